internal import Bytes

extension KeyedDecodingContainer {
    /// Decodes a base64url text of at most `limit` bytes; the text is measured before it is decoded.
    func decodeBytes(forKey key: Key, limit: Int) throws -> [UInt8] {
        let text = try decode(String.self, forKey: key)
        let textLimit = Base64URL.characterCount(ofBytes: limit)
        guard text.utf8.count <= textLimit else {
            throw WebAuthnError.tooLong(key.stringValue, limit: textLimit, found: text.utf8.count)
        }
        do {
            return try Base64URL.decode(text)
        } catch {
            throw WebAuthnError.malformed(of: key.stringValue, reason: "\(error)")
        }
    }

    /// Decodes a text of at most `limit` bytes in UTF-8.
    func decodeText(forKey key: Key, limit: Int) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard text.utf8.count <= limit else {
            throw WebAuthnError.tooLong(key.stringValue, limit: limit, found: text.utf8.count)
        }
        return text
    }

    /// Decodes a list of at most `limit` elements, or an empty one if the member is missing.
    func decodeList<Element: Decodable>(
        of type: Element.Type,
        forKey key: Key,
        limit: Int
    ) throws -> [Element] {
        let list = try decodeIfPresent([Element].self, forKey: key) ?? []
        guard list.count <= limit else {
            throw WebAuthnError.tooLong(key.stringValue, limit: limit, found: list.count)
        }
        return list
    }
}

extension KeyedEncodingContainer {
    /// Encodes bytes as a base64url text.
    mutating func encode(bytes: [UInt8], forKey key: Key) throws {
        try encode(Base64URL.encode(bytes), forKey: key)
    }
}

/// The only type of credential.
enum PublicKeyCredentialType {
    static let name = "public-key"

    static func check(_ type: String) throws(WebAuthnError) {
        guard type == name else { throw .wrongCredentialType(type) }
    }
}

/// The list of ways to an authenticator, of which unknown ones are kept.
enum Transports {
    /// The most ways of one authenticator; seven are defined.
    static let countLimit = 16
    private static let byteLimit = 32

    static func decode<Key: CodingKey>(
        from container: KeyedDecodingContainer<Key>,
        forKey key: Key
    ) throws -> [String] {
        let transports = try container.decodeList(of: String.self, forKey: key, limit: countLimit)
        for transport in transports where !isName(transport) {
            let reason = "a name is not 1 to \(byteLimit) letters, digits or hyphens"
            throw WebAuthnError.malformed(of: key.stringValue, reason: reason)
        }
        return transports
    }

    private static func isName(_ text: String) -> Bool {
        (1...byteLimit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
