internal import Bytes
internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

private struct HandshakeVectors: Decodable {
    struct Handshake: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let initiator, responder, presharedKey, initiatorEphemeral, responderEphemeral: String
        let initiatorIndex, responderIndex: UInt32
        let seconds, nanoseconds: Int64
        let initiation, response: String
        let packetsToResponder, packetsToInitiator, messagesToResponder, messagesToInitiator: [String]
        let keepaliveToResponder: String
        let cookieSecret, cookieNonce, cookieReply: String
        let secondEphemeral: String
        let secondIndex: UInt32
        let secondInitiation: String

        var testDescription: String { name }
    }

    let handshakes: [Handshake]

    static func all() throws -> [Handshake] {
        try vectors(named: "WireGuard/handshake.json", as: HandshakeVectors.self).handshakes
    }
}

private func hex(_ text: String) -> [UInt8] {
    var digits = text.utf8.makeIterator()
    var bytes: [UInt8] = []
    while let high = digits.next(), let low = digits.next() {
        bytes.append(UInt8(String(UnicodeScalar(high)) + String(UnicodeScalar(low)), radix: 16) ?? 0)
    }
    return bytes
}

/// Messages that an independent implementation computed: `Tests/Vectors/WireGuard/generate.py`.
@Suite("Messages of an independent implementation") struct VectorTests {
    private func pair(_ vector: HandshakeVectors.Handshake) throws -> Pair {
        let keys = (
            try X25519PrivateKey(rawRepresentation: hex(vector.initiator)),
            try X25519PrivateKey(rawRepresentation: hex(vector.responder))
        )
        var pair = Pair(keys: keys, preshared: try PresharedKey(rawRepresentation: hex(vector.presharedKey)))
        let wall = Duration(secondsComponent: vector.seconds, attosecondsComponent: vector.nanoseconds * 1_000_000_000)
        pair.wallOffset = wall - pair.monotonic
        pair.nodes[0].random.prepend(hex(vector.initiatorEphemeral))
        pair.nodes[0].random.prepend(UInt64(vector.initiatorIndex))
        return pair
    }

    @Test(arguments: try HandshakeVectors.all())
    private func `a handshake and its first packets have the bytes of the vector`(
        vector: HandshakeVectors.Handshake
    ) throws {
        var pair = try pair(vector)
        pair.nodes[1].random.prepend(UInt64(vector.responderIndex))
        pair.nodes[1].random.prepend(hex(vector.responderEphemeral))
        for packet in vector.packetsToResponder { pair.feed(0, .packetSent(hex(packet))) }
        let initiation = try #require(pair.takeAll().first)
        #expect(initiation.bytes == hex(vector.initiation))
        pair.deliver(initiation)
        let response = try #require(pair.takeAll().first)
        #expect(response.bytes == hex(vector.response))
        pair.deliver(response)
        let messages = pair.takeAll()
        #expect(messages.map(\.bytes) == vector.messagesToResponder.map { hex($0) })
        for message in messages { pair.deliver(message) }
        #expect(pair.nodes[1].arrived.map(\.packet) == vector.packetsToResponder.map { hex($0) })
        for packet in vector.packetsToInitiator { pair.feed(1, .packetSent(hex(packet))) }
        #expect(pair.network.map(\.bytes) == vector.messagesToInitiator.map { hex($0) })
        pair.deliverAll()
        #expect(pair.nodes[0].arrived.map(\.packet) == vector.packetsToInitiator.map { hex($0) })
        pair.run(for: .seconds(10), delivering: false)
        #expect(pair.network.map(\.bytes) == [hex(vector.keepaliveToResponder)])
    }

    @Test(arguments: try HandshakeVectors.all())
    private func `a cookie reply and the repeated initiation have the bytes of the vector`(
        vector: HandshakeVectors.Handshake
    ) throws {
        var pair = try pair(vector)
        pair.nodes[0].endpoint = SocketAddress(.v4(0xC000_0201), port: 51_820)
        pair.nodes[1].interface.isLoadReported = true
        pair.nodes[1].random.prepend(hex(vector.cookieNonce))
        pair.nodes[1].random.prepend(hex(vector.cookieSecret))
        pair.feed(0, .packetSent(hex(vector.packetsToResponder[0])))
        let initiation = try #require(pair.takeAll().first)
        #expect(initiation.bytes == hex(vector.initiation))
        pair.deliver(initiation)
        let reply = try #require(pair.takeAll().first)
        #expect(reply.bytes == hex(vector.cookieReply))
        pair.deliver(reply)
        pair.nodes[0].random.prepend(hex(vector.secondEphemeral))
        pair.nodes[0].random.prepend(UInt64(vector.secondIndex))
        pair.monotonic += .seconds(6)
        pair.feed(0, .timeReached)
        #expect(pair.network.map(\.bytes) == [hex(vector.secondInitiation)])
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.map(\.packet) == [hex(vector.packetsToResponder[0])])
    }
}
