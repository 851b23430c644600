internal import Bytes
internal import Essentials
internal import Identity

/// JSON of the exit's documents and forms, within bounds.
enum ExitJSON {
    /// The deepest nesting of any of the formats.
    private static let depthLimit = 8

    /// Returns the text with sorted keys.
    static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            preconditionFailure("a value of this module cannot be written: \(error)")
        }
    }

    /// Reads a text of at most `limit` bytes, which is `subject` in the words of an error.
    ///
    /// - Throws: ``ExitModelError``.
    static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from bytes: [UInt8],
        limit: Int,
        of subject: String
    ) throws(ExitModelError) -> Value {
        guard bytes.count <= limit else { throw .tooLong(of: subject, limit: limit, found: bytes.count) }
        guard JSONNesting.isAtMost(depthLimit, in: bytes) else {
            throw .malformed(of: subject, reason: "it is nested too deeply, or not in UTF-8")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as ExitModelError {
            throw error
        } catch let error as DecodingError {
            throw .malformed(of: subject, reason: reason(of: error))
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }

    private static func reason(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "its field \"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.last.map { "its field \"\($0.stringValue)\" has a value that is not allowed" }
                ?? "it is not a JSON object"
        @unknown default: "it is not a JSON object"
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes base64url without padding, of at most `limit` bytes.
    func bytes(_ key: Key, limit: Int) throws -> [UInt8] {
        try Base64URLText.bytes(try decode(String.self, forKey: key), limit: limit, of: key.stringValue)
    }

    /// Decodes base64url without padding, of exactly `count` bytes.
    func bytes(_ key: Key, count: Int) throws -> [UInt8] {
        try Base64URLText.bytes(try decode(String.self, forKey: key), count: count, of: key.stringValue)
    }

    /// Decodes base64url without padding, of 32 bytes.
    func bytes32(_ key: Key) throws -> Bytes32 {
        let bytes = try bytes(key, count: Bytes32.byteCount)
        guard let words = Bytes32(bytes) else {
            throw ExitModelError.wrongLength(of: key.stringValue, expected: Bytes32.byteCount, found: bytes.count)
        }
        return words
    }

    /// Decodes 1 to `limit` values that are written as texts.
    func parsedList<Value: LosslessStringConvertible>(_ key: Key, limit: Int) throws -> [Value] {
        let texts = try decode([String].self, forKey: key)
        guard 1...limit ~= texts.count else {
            throw ExitModelError.tooLong(of: key.stringValue, limit: limit, found: texts.count)
        }
        return try texts.map { text in
            guard let value = Value(text) else {
                throw ExitModelError.malformed(of: key.stringValue, reason: "a text in it is not an address")
            }
            return value
        }
    }
}

/// The texts of bytes in the exit's formats: base64url without padding, whose length is checked before it is read.
package enum Base64URLText {
    /// Reads a text of at most `limit` bytes, which is `subject` in the words of an error.
    ///
    /// - Throws: ``ExitModelError``.
    package static func bytes(
        _ text: String,
        limit: Int,
        of subject: String
    ) throws(ExitModelError) -> [UInt8] {
        guard text.utf8.count <= Base64URL.characterCount(ofBytes: limit) else {
            throw .tooLong(of: subject, limit: limit, found: text.utf8.count / 4 * 3)
        }
        do {
            return try Base64URL.decode(text)
        } catch {
            throw .malformed(of: subject, reason: "it is not base64url without padding")
        }
    }

    /// Reads a text of exactly `count` bytes, which is `subject` in the words of an error.
    ///
    /// - Throws: ``ExitModelError``.
    package static func bytes(
        _ text: String,
        count: Int,
        of subject: String
    ) throws(ExitModelError) -> [UInt8] {
        guard text.utf8.count == Base64URL.characterCount(ofBytes: count) else {
            throw .wrongLength(of: subject, expected: count, found: text.utf8.count / 4 * 3)
        }
        return try bytes(text, limit: count, of: subject)
    }
}
