internal import Bytes

/// What goes over the control socket: a length of four bytes, a version byte, and that many bytes of JSON.
///
/// Both sides are the same program most of the time, but a node may be older than the command that talks to it.
enum ControlFrame {
    static let version: UInt8 = 1
    static let headerByteCount = 5
    /// A message of the largest size, written as JSON with every byte escaped, has room.
    static let byteLimit = 16 << 20

    /// Why bytes are no frame.
    enum Failure: Error, Hashable {
        case otherVersion(UInt8)
        case tooLong(Int)
    }

    static func encode(_ body: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: body.count + headerByteCount)
        writer.write(UInt32(truncatingIfNeeded: body.count))
        writer.write(version)
        writer.write(body)
        return writer.bytes
    }

    /// Takes the first whole frame off `buffer`; nil while it is incomplete.
    static func next(in buffer: inout [UInt8]) throws(Failure) -> [UInt8]? {
        guard buffer.count >= headerByteCount else { return nil }
        let length = buffer.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard buffer[4] == version else { throw .otherVersion(buffer[4]) }
        guard length <= byteLimit else { throw .tooLong(length) }
        guard buffer.count - headerByteCount >= length else { return nil }
        let body = Array(buffer[headerByteCount..<headerByteCount + length])
        buffer.removeFirst(headerByteCount + length)
        return body
    }
}
