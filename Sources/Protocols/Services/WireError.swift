internal import Bytes

/// Why bytes are no header, no item and no announcement, or values do not fit into one.
package enum WireError: Error, Hashable, Sendable {
    /// Longer than it may be, in bytes.
    case tooLong(String, limit: Int, found: Int)
    /// Not what `docs/spec/services.md` lays out.
    case malformed(String)
}

extension WireError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let what, let limit, let found): "\(what) of \(found) bytes, at most \(limit) are allowed"
        case .malformed(let what): "malformed: \(what)"
        }
    }
}

extension WireError {
    /// Reads with `body` and turns every failure of the reader into one of these.
    static func reading<Value>(
        _ bytes: some Collection<UInt8>,
        _ body: (inout ByteReader) throws -> Value
    ) throws(WireError) -> Value {
        do {
            var reader = ByteReader(bytes)
            let value = try body(&reader)
            try reader.finish()
            return value
        } catch let error as WireError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }
}

extension ByteReader {
    /// Text behind its length.
    mutating func readText(limit: Int) throws -> String {
        let length = try readVarint()
        guard length <= UInt64(limit) else { throw BytesError.tooLong(limit: limit, found: Int(clamping: length)) }
        guard let text = String(utf8: try readSlice(count: Int(length))) else {
            throw BytesError.invalidUTF8
        }
        return text
    }
}

extension ByteWriter {
    /// Text behind its length.
    mutating func writeText(_ text: some StringProtocol) {
        writeVarint(UInt64(text.utf8.count))
        write(utf8: text)
    }

    /// Returns the number of bytes that ``writeText(_:)`` writes.
    static func textByteCount(_ text: some StringProtocol) -> Int {
        let count = text.utf8.count
        return varintByteCount(UInt64(count)) + count
    }
}
