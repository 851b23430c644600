#if os(Linux)
internal import Concurrency
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

/// A configured peer of the left engine of a pair that sends any bytes inside the tunnel.
///
/// Its socket is in the right namespace, next to the honest engine.
final class HostilePeer {
    static let inner = "10.66.0.3"
    static let innerIPv6 = "fd66::3"

    private let socket: PlainSocket
    private let pair: EnginePair
    private var interface: WireGuardInterface
    private var random = SplitMix64(seed: 66)
    private let now = EngineCore.systemClock()
    private let place: SocketAddress

    /// Adds the peer to the left engine and makes a session.
    init(_ pair: EnginePair) async throws {
        self.pair = pair
        let key = X25519PrivateKey(using: &random)
        var configured = UAPIConfiguration.PeerChange(publicKey: key.publicKey)
        var change = WireGuardInterface.PeerChange()
        for (text, length) in [(Self.inner, 32), (Self.innerIPv6, 128)] {
            let address = try #require(IPAddress(text))
            configured.allowedAddresses.append(try #require(AddressPrefix(address, length: length)))
            change.allowedAddresses.append(try #require(AddressPrefix(address, length: 0)))
        }
        var configuration = UAPIConfiguration()
        configuration.peers = [configured]
        try await pair.client(0).apply(configuration)
        place = SocketAddress(try #require(IPAddress(EnginePair.outer[0])), port: pair.resources[0].port)
        change.endpoint = place
        let port = place.port
        socket = try await pair.spaces.inside(EnginePair.roles[1]) {
            let socket = try PlainSocket(isIPv6: false, isStream: false)
            try socket.connect(EnginePair.outer[0], port)
            return socket
        }
        interface = WireGuardInterface(.init(privateKey: key))
        _ = interface.handle(.configured(.peer(pair.keys[0].publicKey, change)), at: now(), using: &random)
        for datagram in sent(.packetSent(try Self.packet("begin"))) { try socket.send(datagram) }
        let response = try socket.receive()
        for datagram in sent(.datagramReceived(response, from: place)) { try socket.send(datagram) }
    }

    /// A datagram to the gateway's own address inside the tunnel.
    static func packet(_ text: String, from source: String = inner) throws -> [UInt8] {
        let source = try #require(IPAddress(source))
        let destination = try #require(IPAddress(source.isIPv6 ? EnginePair.innerIPv6[0] : EnginePair.inner[0]))
        return HostilePackets.udp(
            Array(text.utf8),
            from: SocketAddress(source, port: 9_999),
            to: SocketAddress(destination, port: 9_998)
        )
    }

    /// Seals and sends any bytes as packets, and returns the datagrams.
    @discardableResult func send(_ packets: [[UInt8]]) throws -> [[UInt8]] {
        // The value reserves counters for packets that it routes; they are used for an equal number of others.
        var (routed, sealed) = (WireGuard.PacketBatch(), WireGuard.PacketBatch())
        let plain = try Self.packet("x")
        for packet in packets {
            routed.append(plain)
            sealed.append(packet)
        }
        var work = SealingWork()
        var effects: [WireGuardInterface.Effect] = []
        interface.prepare(routed, at: now(), using: &random, into: &work, effects: &effects)
        try #require(work.packetCount == packets.count)
        var batch = DatagramBatch()
        work.seal(sealed, into: &batch)
        let datagrams = batch.datagrams.indices.map { Array(batch[$0]) }
        for datagram in datagrams { try socket.send(datagram) }
        return datagrams
    }

    /// Sends datagrams as they are.
    func repeatDatagrams(_ datagrams: [[UInt8]]) throws {
        for datagram in datagrams { try socket.send(datagram) }
    }

    private func sent(_ input: WireGuardInterface.Input) -> [[UInt8]] {
        interface.handle(input, at: now(), using: &random).compactMap { effect in
            guard case .send(let datagram, _) = effect else { return nil }
            return datagram
        }
    }
}
#endif
