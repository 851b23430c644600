internal import Bytes
internal import Transport

/// Reads whole units from a stream of bytes, each bounded before it is collected.
struct StreamReader {
    /// Why a unit could not be read.
    enum Failure: Error, Hashable {
        case endedEarly
        case tooLong(limit: Int, found: Int)
        /// Too much of other units of the connection is waiting for its rest.
        case noRoom
    }

    private let stream: any Stream
    private var buffer: [UInt8] = []
    private var position = 0
    private(set) var isAtEnd = false
    /// The count of the bytes of incomplete units; nil if no unit larger than one read is collected.
    private var share: Inbox.Share?

    init(_ stream: any Stream) {
        self.stream = stream
    }

    /// Counts bytes that are collected from now on as a part of `inbox`.
    mutating func keepRoom(in inbox: Inbox) {
        share = Inbox.Share(of: inbox)
    }

    /// Counts only the bytes not yet taken from now on.
    mutating func giveBackRoom() { share?.hold(available) }

    private var available: Int { buffer.count - position }

    /// Waits until `count` bytes are available or the stream ends.
    private mutating func fill(to count: Int) async throws {
        while available < count, !isAtEnd {
            // A unit that arrives in one read is never counted, so that small units cost nothing.
            if let share, !share.hold(available) {
                (buffer, position) = ([], 0)
                throw Failure.noRoom
            }
            if position > 0 {
                buffer.removeFirst(position)
                position = 0
            }
            let (bytes, isFinal) = try await stream.read(atMost: 64 * 1024)
            if buffer.isEmpty { buffer = bytes } else { buffer += bytes }
            isAtEnd = isFinal
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        if position == 0, count == buffer.count {
            defer { buffer = [] }
            return buffer
        }
        defer { position += count }
        return Array(buffer[position..<position + count])
    }

    /// Exactly `count` bytes.
    mutating func read(count: Int) async throws -> [UInt8] {
        try await fill(to: count)
        guard available >= count else { throw Failure.endedEarly }
        return take(count)
    }

    /// The next available bytes, at least one; empty only at the end.
    mutating func readSome() async throws -> [UInt8] {
        try await fill(to: 1)
        return take(available)
    }

    /// A unit behind its length as a QUIC varint; nil when the stream ended before it.
    mutating func readPrefixed(limit: Int) async throws -> [UInt8]? {
        guard let length = try await readVarint() else { return nil }
        guard length <= UInt64(limit) else {
            throw Failure.tooLong(limit: limit, found: Int(clamping: length))
        }
        return try await read(count: Int(length))
    }

    /// A QUIC varint; nil when the stream ended before it.
    mutating func readVarint() async throws -> UInt64? {
        try await fill(to: 1)
        guard available > 0 else { return nil }
        let byteCount = 1 << Int(buffer[position] >> 6)
        var reader = ByteReader(try await read(count: byteCount))
        return try reader.readVarint()
    }

    /// Everything up to the end of the stream.
    mutating func readToEnd(limit: Int) async throws -> [UInt8] {
        while !isAtEnd {
            guard available <= limit else { throw Failure.tooLong(limit: limit, found: available) }
            try await fill(to: available + 1)
        }
        guard available <= limit else { throw Failure.tooLong(limit: limit, found: available) }
        return take(available)
    }
}
