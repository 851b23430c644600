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
        self.share = Inbox.Share(of: inbox)
    }

    /// Counts only the bytes not yet taken from now on.
    mutating func giveBackRoom() { self.share?.hold(self.available) }

    private var available: Int { self.buffer.count - self.position }

    /// Waits until `count` bytes are available or the stream ends.
    private mutating func fill(to count: Int) async throws {
        while self.available < count, !self.isAtEnd {
            // A unit that arrives in one read is never counted, so that small units cost nothing.
            if let share, !share.hold(self.available) {
                (self.buffer, self.position) = ([], 0)
                throw Failure.noRoom
            }
            if self.position > 0 {
                self.buffer.removeFirst(self.position)
                self.position = 0
            }
            let (bytes, isFinal) = try await self.stream.read(atMost: 64 * 1024)
            if self.buffer.isEmpty { self.buffer = bytes } else { self.buffer += bytes }
            self.isAtEnd = isFinal
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        if self.position == 0, count == self.buffer.count {
            defer { self.buffer = [] }
            return self.buffer
        }
        defer { self.position += count }
        return Array(self.buffer[self.position..<self.position + count])
    }

    /// Exactly `count` bytes.
    mutating func read(count: Int) async throws -> [UInt8] {
        try await self.fill(to: count)
        guard self.available >= count else { throw Failure.endedEarly }
        return self.take(count)
    }

    /// The next available bytes, at least one; empty only at the end.
    mutating func readSome() async throws -> [UInt8] {
        try await self.fill(to: 1)
        return self.take(self.available)
    }

    /// A unit behind its length as a QUIC varint; nil when the stream ended before it.
    mutating func readPrefixed(limit: Int) async throws -> [UInt8]? {
        guard let length = try await self.readVarint() else { return nil }
        guard length <= UInt64(limit) else {
            throw Failure.tooLong(limit: limit, found: Int(clamping: length))
        }
        return try await self.read(count: Int(length))
    }

    /// A QUIC varint; nil when the stream ended before it.
    mutating func readVarint() async throws -> UInt64? {
        try await self.fill(to: 1)
        guard self.available > 0 else { return nil }
        let byteCount = 1 << Int(self.buffer[self.position] >> 6)
        var reader = ByteReader(try await self.read(count: byteCount))
        return try reader.readVarint()
    }

    /// Everything up to the end of the stream.
    mutating func readToEnd(limit: Int) async throws -> [UInt8] {
        while !self.isAtEnd {
            guard self.available <= limit else { throw Failure.tooLong(limit: limit, found: self.available) }
            try await self.fill(to: self.available + 1)
        }
        guard self.available <= limit else { throw Failure.tooLong(limit: limit, found: self.available) }
        return self.take(self.available)
    }
}
