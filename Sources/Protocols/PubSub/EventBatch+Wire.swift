internal import Bytes
internal import Crypto
internal import Identity

/// Why bytes are no message about events.
package enum EventError: Error, Hashable, Sendable {
    /// The first byte is none of this version.
    case unknownKind(UInt8)
    /// Not the agreed layout.
    case malformed(String)
}

extension EventError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownKind(let kind): "a message about events of the unknown kind \(kind)"
        case .malformed(let what): "a malformed message about events: \(what)"
        }
    }
}

// The wire form of batches, and the bytes that their publisher signs.
extension EventBatch {
    /// The bytes of a batch without its topic and its content.
    private static let fixedByteCount = 32 + 16 + MembershipProof.byteCount + 8 + 4 + 8 + 2 + 4 + 64

    /// The length of the wire form.
    package var byteCount: Int { Self.fixedByteCount + topic.utf8.count + content.count }

    func write(to writer: inout ByteWriter) {
        writer.write(publisherKey.bytes)
        writer.write(stream.instance.bytes)
        membership.write(to: &writer)
        writer.write(first)
        writer.write(UInt32(count))
        writer.write(publishedSeconds)
        writer.write(UInt16(topic.utf8.count))
        writer.write(utf8: topic)
        writer.write(UInt32(content.count))
        writer.write(content)
        writer.write(signature.bytes)
    }

    init(reading reader: inout ByteReader) throws {
        let key = try Ed25519PublicKey(rawRepresentation: reader.readSlice(count: Ed25519PublicKey.byteCount))
        let instance = try InstanceId(bytes: reader.readSlice(count: InstanceId.byteCount))
        let membership = try MembershipProof(reading: &reader)
        let first = try reader.readUInt64()
        let count = Int(try reader.readUInt32())
        let published = try reader.readUInt64()
        guard (1...Self.eventLimit).contains(count), first >= 1, first <= UInt64.max - UInt64(Self.eventLimit),
            published <= UnixTime.maximum
        else { throw EventError.malformed("\(count) events from number \(first)") }
        let topicCount = Int(try reader.readUInt16())
        guard (1...Self.topicByteLimit).contains(topicCount),
            let topic = String(utf8: try reader.readSlice(count: topicCount))
        else { throw EventError.malformed("a topic of \(topicCount) bytes") }
        let contentCount = Int(try reader.readUInt32())
        guard contentCount <= Self.contentByteLimit else {
            throw EventError.malformed("events of \(contentCount) bytes together")
        }
        let content = try reader.readBytes(count: contentCount)
        let signature = try reader.readSlice(count: Ed25519Signature.byteCount)
        guard let signature = Ed25519Signature(signature) else { throw EventError.malformed("a signature") }
        self.init(
            stream: StreamId(publisher: PeerId(publicKey: key), instance: instance),
            publisherKey: key,
            membership: membership,
            first: first,
            count: count,
            publishedSeconds: published,
            topic: topic,
            content: content,
            signature: signature
        )
        guard Self.count(in: content) == count else { throw EventError.malformed("not \(count) events") }
    }

    /// The content of a batch of `events`.
    package static func content(of events: [[UInt8]]) -> [UInt8] {
        var writer = ByteWriter(capacity: events.reduce(0) { $0 + $1.count + 4 })
        for event in events { writer.writeVarintPrefixed(event) }
        return writer.bytes
    }

    /// Returns the number of events in `content`; nil unless it consists of complete events of a legal length.
    package static func count(in content: [UInt8]) -> Int? {
        var (count, position) = (0, 0)
        while position < content.count {
            guard nextEvent(in: content, at: &position) != nil else { return nil }
            count += 1
        }
        return count
    }

    /// The bytes of the event whose length begins at `position`, which moves past it; nil if no complete event of a legal
    /// length follows.
    ///
    /// Every event passes through this function, so it avoids a reader and its errors.
    fileprivate static func nextEvent(in content: [UInt8], at position: inout Int) -> Range<Int>? {
        guard position < content.count else { return nil }
        let lengthCount = 1 << Int(content[position] >> 6)
        guard lengthCount <= content.count - position else { return nil }
        var length = Int(content[position] & 0x3F)
        for index in position + 1..<position + lengthCount { length = length << 8 | Int(content[index]) }
        let start = position + lengthCount
        guard length <= eventByteLimit, length <= content.count - start,
            ByteWriter.varintByteCount(UInt64(length)) == lengthCount
        else { return nil }
        position = start + length
        return start..<position
    }

    /// The events one after another.
    package var events: Events { Events(content: content) }

    /// The events of a batch, as slices of its content.
    package struct Events: Sequence, Sendable {
        fileprivate let content: [UInt8]

        package struct Iterator: IteratorProtocol, Sendable {
            fileprivate let content: [UInt8]
            private var position = 0

            fileprivate init(_ content: [UInt8]) {
                self.content = content
            }

            package mutating func next() -> ArraySlice<UInt8>? {
                EventBatch.nextEvent(in: content, at: &position).map { content[$0] }
            }
        }

        package func makeIterator() -> Iterator { Iterator(content) }
    }

    static func signedBytes(
        in network: NetworkId,
        stream: StreamId,
        first: UInt64,
        count: Int,
        publishedSeconds: UInt64,
        topic: String,
        content: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 192 + topic.utf8.count)
        writer.write(label.prefix)
        writer.write(network.bytes)
        writer.write(stream.publisher.bytes)
        writer.write(stream.instance.bytes)
        writer.write(first)
        writer.write(UInt32(count))
        writer.write(publishedSeconds)
        writer.write(UInt16(topic.utf8.count))
        writer.write(utf8: topic)
        writer.write(Array(SHA256.hash(data: content)))
        return writer.bytes
    }
}
