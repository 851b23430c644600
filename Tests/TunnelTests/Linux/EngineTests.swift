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
        #expect(device.pathMTU == (usesIPv6 ? 1_420 : 1_440))
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

    @Test(arguments: [false, true])
    func `a narrow path is reported, and datagrams that are too long for it leave in fragments`(
        usesIPv6: Bool
    ) async throws {
        let pair = try await EnginePair(usesIPv6: usesIPv6)
        let names = EnginePair.roles.map(pair.spaces.space)
        for name in names { try NetworkSpaces.run("ip -n \(name) link set eth0 mtu 1300") }
        #expect(try await pair.client(0).device().pathMTU == (usesIPv6 ? 1_220 : 1_240))
        for index in 0..<2 { #expect(try await pair.stream(from: index, payload) == payload) }
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
