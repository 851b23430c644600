internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Traversal

@Suite("Messages about reaching others") struct ReachMessageTests {
    static func samples(target: PeerId) throws -> [Reach.Message] {
        guard let key = PathKey([UInt8](1...24)) else { throw CancellationError() }
        let addresses = try ["192.0.2.1:4433", "[2001:db8::1]:65535"].map { try SocketAddress(parsing: $0) }
        let offer = Reach.Offer(mapping: .endpointDependent, addresses: addresses)
        let full = Reach.Offer(mapping: .unknown, addresses: (0..<16).map { SocketAddress(.v4($0 + 1), port: 1) })
        let introduction = Reach.Introduction(observed: addresses[0], channel: ChannelId(0x01_0203_0405_0607))
        let empty = Reach.Introduction(observed: nil, channel: nil)
        return [
            .observed(addresses[0]), .observed(addresses[1]), .offer(key.id, target: target, key.key, offer),
            .offer(key.id, target: target, key.key, full),
            .forwardedOffer(key.id, from: target, key.key, offer, introduction),
            .forwardedOffer(key.id, from: target, key.key, full, empty), .answer(key.id, offer),
            .decline(key.id, .busy),
            .forwardedAnswer(key.id, offer, introduction), .forwardedAnswer(key.id, full, empty),
            .failed(key.id, .notConnected),
            .failed(key.id, .refused), .cancel(key.id), .filteringRequest(key.id, key.key, known: []),
            .filteringRequest(key.id, key.key, known: [target, target]), .probeRequest(key.id, key.key, addresses[1]),
            .filteringReply(key.id, by: target), .filteringReply(key.id, by: nil),
        ]
    }

    private func samples() throws -> [Reach.Message] {
        try Self.samples(target: PeerId(rawRepresentation: [UInt8](repeating: 7, count: 32)))
    }

    @Test func `every message is read as it was written`() throws {
        for message in try self.samples() { #expect(try Reach.Message(message.bytes) == message) }
    }

    @Test func `missing and superfluous bytes, and what has no meaning, are refused`() throws {
        for message in try self.samples() {
            #expect(throws: ReachMessageError.self) { try Reach.Message(message.bytes + [0]) }
            #expect(throws: ReachMessageError.self) { try Reach.Message(Array(message.bytes.dropLast())) }
        }
        let id = [UInt8](repeating: 0, count: 8)
        for bytes in [[], [0], [9] + id, [4] + id + [3, 0], [4] + id + [0, 17], [5] + id + [0], [7] + id + [4]] {
            #expect(throws: ReachMessageError.self) { try Reach.Message(bytes) }
        }
        let many = (0..<17).flatMap { _ in [4, 1, 2, 3, 4, 0, 1] as [UInt8] }
        #expect(throws: ReachMessageError.self) { try Reach.Message([4] + id + [0, 17] + many) }
        #expect(throws: ReachMessageError.self) { try Reach.Message([6] + id + [0, 0, 2, 0]) }
    }

    @Test func `no bytes make a decoder crash`() throws {
        neverCrash(on: try self.samples().map(\.bytes), rounds: 3_000) { _ = try Reach.Message($0) }
    }

    @Test func `keys are not printed`() throws {
        let message = try #require(try self.samples().first { if case .forwardedOffer = $0 { true } else { false } })
        var printed = ""
        dump(message, to: &printed)
        #expect(printed.contains("SessionKey(redacted)") && "\(message)".contains("SessionKey(redacted)"))
        #expect(!printed.contains("bytes"))
    }
}
