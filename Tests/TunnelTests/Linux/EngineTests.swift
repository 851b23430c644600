#if os(Linux)
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite(
    "Engine",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct EngineTests {
    private let payload: [UInt8] = {
        var random = SplitMix64(seed: 45)
        return random.bytes(count: 2 << 20)
    }()

    @Test(arguments: [1, 2], [false, true])
    func `streams of both families pass two engines`(queues: Int, usesIPv6: Bool) async throws {
        let pair = try await EnginePair(queues: queues, usesIPv6: usesIPv6)
        for index in 0..<2 {
            for isIPv6 in [false, true] {
                let received = try await pair.stream(from: index, isIPv6: isIPv6, payload)
                #expect(received == payload)
            }
        }
        let device = try await pair.client(0).device()
        #expect(device.listenPort == pair.resources[0].port)
        let peer = try #require(device.peers.first)
        #expect(peer.lastHandshake != nil)
        #expect(peer.sentBytes > UInt64(2 * payload.count) && peer.receivedBytes > UInt64(2 * payload.count))
        #expect(device.pathMTU == nil)
    }

    @Test func `an engine is replaced on the same resources and traffic continues`() async throws {
        let pair = try await EnginePair()
        #expect(try await pair.stream(from: 0, payload) == payload)
        for index in [1, 0] {
            try await pair.replace(index)
            // The engine that lost its sessions begins the handshake, because the other one still has its own.
            let received = try await pair.stream(from: index, payload)
            #expect(received == payload)
        }
    }

    @Test func `a datagram that is too long for the path lowers the reported MTU`() async throws {
        let pair = try await EnginePair()
        #expect(try await pair.stream(from: 0, [1]) == [1])
        let names = EnginePair.roles.map(pair.spaces.space)
        try NetworkSpaces.run("ip -n \(names[0]) link set eth0 mtu 1400")
        try await pair.spaces.inside("left") {
            let sender = try PlainSocket(isIPv6: false, isStream: false)
            try sender.connect(EnginePair.inner[1], EnginePair.port)
            try sender.send([UInt8](repeating: 0, count: 1_392))
        }
        // It is reported as soon as the engine has read the packet.
        var reported: UInt16?
        for _ in 0..<10_000 where reported == nil { reported = try await pair.client(0).device().pathMTU }
        #expect(reported == 1_340)
        var change = UAPIConfiguration()
        change.mtu = 1_340
        try await pair.client(0).apply(change)
        try pair.resources[0].setMTU(1_340)
        let device = try await pair.client(0).device()
        #expect(device.mtu == 1_340 && device.pathMTU == nil)
        #expect(try await pair.stream(from: 0, payload) == payload)
    }

    @Test func `the port and the mark belong to the owner of the sockets`() async throws {
        let pair = try await EnginePair()
        var change = UAPIConfiguration()
        change.listenPort = pair.resources[0].port &+ 1
        await #expect(throws: UAPIError.refused(number: -98, reason: SystemErrors.text(of: 98))) {
            try await pair.client(0).apply(change)
        }
        change.listenPort = pair.resources[0].port
        try await pair.client(0).apply(change)
    }
}
#endif
