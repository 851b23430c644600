internal import Bytes
internal import CryptoPrimitives
internal import GatewayStore
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Gateway
@testable internal import Tunnel

/// The configuration of an engine that is started again.
@Suite("Peers of a new engine") struct GatewayPeersTests {
    private static let now: UInt64 = 1_000_000
    private let keys: [X25519PublicKey]
    private let endpoint = SocketAddress(.v4(0xCB00_7105), port: 40_000)

    init() {
        var random = SplitMix64(seed: 5)
        keys = (0..<2).map { _ in X25519PrivateKey(using: &random).publicKey }
    }

    private func peer(_ key: X25519PublicKey, slot: Int = 1) throws -> TunnelPeer {
        let network = try GatewayScene.configuration([:]).network
        return TunnelPeer(
            publicKey: key,
            presharedKey: try PresharedKey(rawRepresentation: [UInt8](repeating: 0xFF, count: 32)),
            addresses: network.addresses(try #require(LeaseSlot(slot)))
        )
    }

    private func device(_ key: X25519PublicKey, lastHandshake: UInt64?, at endpoint: SocketAddress?) -> UAPIDevice {
        var peer = UAPIPeer(publicKey: key)
        peer.endpoint = endpoint
        peer.lastHandshake = lastHandshake.map { .seconds(Int64($0)) }
        var device = UAPIDevice()
        device.peers = [peer]
        return device
    }

    /// Two peers, of which the first one's endpoint was seen.
    private func seen() throws -> GatewayPeers {
        var peers = GatewayPeers()
        peers.apply([UAPIPeers.change(try peer(keys[0])), UAPIPeers.change(try peer(keys[1], slot: 2))])
        let hasChanged = peers.record(device(keys[0], lastHandshake: Self.now - 100, at: endpoint), at: Self.now)
        #expect(hasChanged)
        return peers
    }

    private func endpoint(_ key: X25519PublicKey, in peers: GatewayPeers) -> SocketAddress? {
        peers.all.first { $0.publicKey == key }?.endpoint
    }

    @Test func `a peer that was seen has its endpoint and a keepalive`() throws {
        let peers = try seen()
        let first = try #require(peers.all.first { $0.publicKey == keys[0] })
        #expect(first.endpoint == endpoint && first.persistentKeepaliveSeconds == GatewayConfiguration.keepaliveSeconds)
        #expect(first.presharedKey != nil && first.allowedAddresses.count == 2)
        let second = try #require(peers.all.first { $0.publicKey == keys[1] })
        #expect(second.endpoint == nil && second.persistentKeepaliveSeconds == nil)
    }

    @Test func `only an endpoint that differs is a change`() throws {
        var peers = try seen()
        let same = peers.record(device(keys[0], lastHandshake: Self.now, at: endpoint), at: Self.now)
        #expect(!same)
        let other = SocketAddress(.v4(0xCB00_7106), port: 40_001)
        let differs = peers.record(device(keys[0], lastHandshake: Self.now, at: other), at: Self.now)
        #expect(differs && endpoint(keys[0], in: peers) == other)
    }

    @Test func `an endpoint without a recent handshake is removed`() throws {
        var peers = try seen()
        // The engine was started a moment ago.
        _ = peers.record(device(keys[0], lastHandshake: nil, at: endpoint), at: Self.now + 1_000)
        #expect(endpoint(keys[0], in: peers) == endpoint)
        let last = Self.now + GatewayPeers.sessionSeconds
        _ = peers.record(device(keys[0], lastHandshake: Self.now, at: endpoint), at: last - 1)
        #expect(endpoint(keys[0], in: peers) == endpoint)
        _ = peers.record(device(keys[0], lastHandshake: Self.now, at: endpoint), at: last)
        #expect(endpoint(keys[0], in: peers) == nil)
        #expect(peers.all.allSatisfy { $0.persistentKeepaliveSeconds == nil })
    }

    @Test func `a peer that is replaced keeps its endpoint, and a removed one does not`() throws {
        var peers = try seen()
        peers.apply([UAPIPeers.change(try peer(keys[0], slot: 3))])
        #expect(endpoint(keys[0], in: peers) == endpoint)
        peers.apply([UAPIPeers.removal(keys[0])])
        #expect(peers.all.map(\.publicKey) == [keys[1]])
        _ = peers.record(device(keys[0], lastHandshake: Self.now, at: endpoint), at: Self.now)
        peers.apply([UAPIPeers.change(try peer(keys[0]))])
        #expect(endpoint(keys[0], in: peers) == nil)
    }

    @Test func `the peers of the most leases fit into one request`() throws {
        let count = GatewayConfiguration.mostLeases
        #expect(count <= UAPIConfiguration.peerLimit)
        var configuration = UAPIConfiguration()
        var change = UAPIPeers.change(try peer(keys[0], slot: LeaseSlot.limit))
        change.endpoint = SocketAddress(.v6(high: .max, low: .max, scope: 0), port: .max)
        change.persistentKeepaliveSeconds = .max
        func byteCount(_ peerCount: Int) -> Int {
            configuration.peers = Array(repeating: change, count: peerCount)
            var writer = UAPIWriter()
            configuration.write(to: &writer)
            return writer.bytes.count
        }
        let peerByteCount = byteCount(2) - byteCount(1)
        // A kilobyte for the settings of the device.
        #expect(peerByteCount > 0 && count * peerByteCount + 1_024 <= UAPIRequest.byteLimit)
    }
}
