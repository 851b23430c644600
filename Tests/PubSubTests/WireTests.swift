internal import Bytes
internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

@Suite("The wire form of events") struct WireTests {
    private func samples() throws -> [Message] {
        let party = try Party(1)
        let batch = try party.batch(by: 0, event: "hello", topic: "home/kitchen/lamp")
        let stream = batch.stream
        return [
            .neighbourRequest(isUrgent: true), .neighbourRequest(isUrgent: false), .neighbourAnswer(isAgreed: true),
            .neighbourAnswer(isAgreed: false), .neighbourEnd, .gossip(batch, hops: 3, age: 77),
            .answer(batch, hops: 255, age: .max), .iHave([]),
            .iHave([.init(stream: stream, end: 9, hops: 1), .init(stream: stream, end: .max, hops: 0)]),
            .iWant(stream, from: 0, isGraft: true), .iWant(stream, from: .max, isGraft: false), .prune,
        ]
    }

    @Test func `every message is read as it was written`() throws {
        for message in try samples() { #expect(try Message(message.bytes) == message) }
    }

    @Test func `superfluous and missing bytes, and unknown kinds, are refused`() throws {
        for message in try samples() {
            let bytes = message.bytes
            if case .iHave = message {} else { #expect(throws: EventError.self) { try Message(bytes + [0]) } }
            #expect(throws: EventError.self) { try Message(Array(bytes.dropLast())) }
        }
        #expect(throws: EventError.unknownKind(9)) { try Message([9]) }
        #expect(throws: EventError.self) { try Message([1, 2]) }
        let stream = StreamId(publisher: try Party(1).members[0].peerId, instance: InstanceId())
        let many = (0...Message.streamLimit).map { Message.StreamState(stream: stream, end: UInt64($0), hops: 0) }
        #expect(throws: EventError.self) { try Message(Message.iHave(many).bytes) }
    }

    @Test func `batches within bounds alone are read`() throws {
        let party = try Party(1)
        let good = try party.batch(by: 0)
        func isRead(_ content: [UInt8], count: Int, topic: String = "news", first: UInt64 = 1) throws -> Bool {
            let batch = EventBatch.create(
                topic: topic,
                content: content,
                count: count,
                first: first,
                instance: good.stream.instance,
                publishedSeconds: Party.epoch,
                token: try party.network.token(for: party.members[0].peerId),
                signer: party.members[0].signer
            )
            let bytes = Message.gossip(try #require(batch), hops: 0, age: 0).bytes
            do {
                _ = try Message(bytes)
                return true
            } catch {
                return false
            }
        }
        let longest = EventBatch.content(of: [[UInt8](repeating: 1, count: EventBatch.eventByteLimit)])
        let tooLong = EventBatch.content(of: [[UInt8](repeating: 1, count: EventBatch.eventByteLimit + 1)])
        #expect(try isRead(longest, count: 1))
        #expect(try !isRead(tooLong, count: 1))
        #expect(try isRead([0], count: 1))
        #expect(try !isRead([], count: 0))
        #expect(try !isRead([0], count: 2))
        #expect(try !isRead([0, 0], count: 1))
        #expect(try !isRead([5, 1], count: 1))
        #expect(try isRead([UInt8](repeating: 0, count: EventBatch.eventLimit), count: EventBatch.eventLimit))
        #expect(try !isRead([UInt8](repeating: 0, count: EventBatch.eventLimit + 1), count: EventBatch.eventLimit + 1))
        #expect(try isRead([0], count: 1, topic: String(repeating: "a", count: 512)))
        #expect(try !isRead([0], count: 1, topic: String(repeating: "a", count: 513)))
        #expect(try !isRead([0], count: 1, topic: ""))
        #expect(try !isRead([0], count: 1, first: 0))
        #expect(try !isRead([0], count: 1, first: .max))
    }

    @Test func `content is cut into the events that it was made of`() throws {
        let events: [[UInt8]] = [[], [1], [UInt8](repeating: 2, count: 63), [UInt8](repeating: 3, count: 64), [4, 5]]
        let content = EventBatch.content(of: events)
        #expect(EventBatch.count(in: content) == events.count)
        let party = try Party(1)
        party.feed(0, .published(topic: "a", content: content, count: events.count))
        #expect(party.members[0].delivered.first?.batch.events.map { Array($0) } == events)
        #expect(party.members[0].delivered.first?.batch.end == 6)
    }

    @Test func `no bytes make a decoder crash`() throws {
        neverCrash(on: try samples().map(\.bytes), rounds: 3_000) { _ = try Message($0) }
    }

    @Test func `no message of a member makes the exchange crash`() throws {
        let party = try Party(3)
        party.connectAll()
        party.run(for: .seconds(1))
        party.publish("hello", by: 0)
        party.run(for: .seconds(1))
        neverCrash(on: try samples().map(\.bytes), rounds: 500) { bytes in
            party.feed(2, .messageReceived(from: party.members[1].peerId, bytes[...]))
            party.run(for: .milliseconds(50))
        }
    }
}
