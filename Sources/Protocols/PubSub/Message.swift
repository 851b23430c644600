internal import Bytes
internal import Identity

/// A message between two members about events; the layout is in `docs/spec/events.md`.
///
/// A message travels in a frame that names the network, on a connection on which both are admitted, so it names neither
/// network nor sender.
package enum Message: Hashable, Sendable {
    /// Requests to be neighbours; an urgent request is that of a node without neighbours.
    case neighbourRequest(isUrgent: Bool)
    /// Agrees or declines.
    case neighbourAnswer(isAgreed: Bool)
    /// The sender is no longer a neighbour.
    case neighbourEnd
    /// A batch along the tree (Plumtree: Gossip), with the hops and the milliseconds since it was published.
    case gossip(EventBatch, hops: UInt8, age: UInt32)
    /// A batch that was requested.
    case answer(EventBatch, hops: UInt8, age: UInt32)
    /// The positions of some streams at the sender (Plumtree: IHave).
    case iHave([StreamState])
    /// Requests the batches of a stream from a number on (GossipSub: IWant); a graft makes the link eager, too.
    case iWant(StreamId, from: UInt64, isGraft: Bool)
    /// The sender gets these batches from others: announce instead (Plumtree: Prune).
    case prune

    /// The most streams in one message.
    package static let streamLimit = 256

    /// The position of a stream at the sender.
    package struct StreamState: Hashable, Sendable {
        package let stream: StreamId
        /// The number after that of the last event.
        package let end: UInt64
        /// The hops that it took to get to the sender.
        package let hops: UInt8

        package init(stream: StreamId, end: UInt64, hops: UInt8) {
            self.stream = stream
            self.end = end
            self.hops = hops
        }
    }
}

// The wire form of messages: a kind, then the body.
extension Message {
    package enum Kind: UInt8 {
        case neighbourRequest = 1
        case neighbourAnswer = 2
        case neighbourEnd = 3
        case gossip = 4
        case answer = 5
        case iHave = 6
        case iWant = 7
        case prune = 8
    }

    /// The binary form.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: roomByteCount)
        switch self {
        case .neighbourRequest(let isUrgent): Self.write(.neighbourRequest, isUrgent, to: &writer)
        case .neighbourAnswer(let isAgreed): Self.write(.neighbourAnswer, isAgreed, to: &writer)
        case .neighbourEnd: writer.write(Kind.neighbourEnd.rawValue)
        case .gossip(let batch, let hops, let age): Self.write(.gossip, batch, hops, age, to: &writer)
        case .answer(let batch, let hops, let age): Self.write(.answer, batch, hops, age, to: &writer)
        case .iHave(let states):
            writer.write(Kind.iHave.rawValue)
            for state in states {
                writer.write(state.stream)
                writer.write(state.end)
                writer.write(state.hops)
            }
        case .iWant(let stream, let from, let isGraft):
            Self.write(.iWant, isGraft, to: &writer)
            writer.write(stream)
            writer.write(from)
        case .prune: writer.write(Kind.prune.rawValue)
        }
        return writer.bytes
    }

    private var roomByteCount: Int {
        switch self {
        case .gossip(let batch, _, _), .answer(let batch, _, _): 8 + batch.byteCount
        case .iHave(let states): 1 + states.count * 57
        case .neighbourRequest, .neighbourAnswer, .neighbourEnd, .iWant, .prune: 64
        }
    }

    private static func write(_ kind: Kind, _ flag: Bool, to writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(UInt8(flag ? 1 : 0))
    }

    private static func write(
        _ kind: Kind,
        _ batch: EventBatch,
        _ hops: UInt8,
        _ age: UInt32,
        to writer: inout ByteWriter
    ) {
        writer.write(kind.rawValue)
        writer.write(hops)
        writer.write(age)
        batch.write(to: &writer)
    }

    /// Reads one message.
    package init(_ bytes: some Collection<UInt8>) throws(EventError) {
        do {
            var reader = ByteReader(bytes)
            let number = try reader.readUInt8()
            guard let kind = Kind(rawValue: number) else { throw EventError.unknownKind(number) }
            self = try Self.read(kind, from: &reader)
            try reader.finish()
        } catch let error as EventError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }

    private static func read(_ kind: Kind, from reader: inout ByteReader) throws -> Message {
        switch kind {
        case .neighbourRequest: return .neighbourRequest(isUrgent: try readFlag(from: &reader))
        case .neighbourAnswer: return .neighbourAnswer(isAgreed: try readFlag(from: &reader))
        case .neighbourEnd: return .neighbourEnd
        case .gossip, .answer:
            let hops = try reader.readUInt8()
            let age = try reader.readUInt32()
            let batch = try EventBatch(reading: &reader)
            return kind == .gossip ? .gossip(batch, hops: hops, age: age) : .answer(batch, hops: hops, age: age)
        case .iHave:
            var states: [StreamState] = []
            while !reader.isAtEnd {
                guard states.count < streamLimit else { throw EventError.malformed("too many streams") }
                let stream = try StreamId(reading: &reader)
                states.append(
                    StreamState(stream: stream, end: try reader.readUInt64(), hops: try reader.readUInt8())
                )
            }
            return .iHave(states)
        case .iWant:
            let isGraft = try readFlag(from: &reader)
            let stream = try StreamId(reading: &reader)
            return .iWant(stream, from: try reader.readUInt64(), isGraft: isGraft)
        case .prune: return .prune
        }
    }

    private static func readFlag(from reader: inout ByteReader) throws -> Bool {
        let byte = try reader.readUInt8()
        guard byte <= 1 else { throw EventError.malformed("\(byte) for yes or no") }
        return byte == 1
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ stream: StreamId) {
        write(stream.publisher.bytes)
        write(stream.instance.bytes)
    }
}

extension StreamId {
    fileprivate init(reading reader: inout ByteReader) throws {
        let publisher = try PeerId(rawRepresentation: reader.readSlice(count: PeerId.byteCount))
        self.init(publisher: publisher, instance: try InstanceId(bytes: reader.readSlice(count: InstanceId.byteCount)))
    }
}
