#if os(Linux)
internal import CryptoPrimitives
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import Tunnel
internal import WireGuard

/// A process of wireguard-go with an interface in a network namespace of its own, configured by our client.
final class WireGuardGo: Sendable {
    /// The address of the interface, 10.66.0.1, and the one of the other side.
    static let address: UInt32 = 0x0A42_0001
    static let otherAddress: UInt32 = 0x0A42_0002

    private static let program = "/usr/bin/wireguard-go"

    /// The reason why it cannot run here, or nil.
    static let obstacle: String? =
        NetworkSpaces.obstacle
        ?? (FileManager.default.fileExists(atPath: "/dev/net/tun") ? nil : "there is no /dev/net/tun")
        ?? (FileManager.default.isExecutableFile(atPath: program) ? nil : "wireguard-go is missing")

    let key: X25519PrivateKey
    let client: UAPIClient
    private let spaces = NetworkSpaces()
    private let process: ChildProcess
    private let path: String

    /// Starts it with a new key.
    init() async throws {
        var random = SystemRandom()
        key = X25519PrivateKey(using: &random)
        let name = "rwg\(UInt32.random(in: 0 ..< 100_000_000, using: &random))"
        path = UAPISocket.path(interface: name)
        client = UAPIClient(path: path, timeLimit: .seconds(60))
        try spaces.add(["tunnel"])
        let space = spaces.space("tunnel")
        let words = spaces.wrapper("tunnel") + [Self.program, "-f", name]
        process = try ChildProcess(
            path: words[0],
            arguments: Array(words.dropFirst()),
            environment: ["WG_PROCESS_FOREGROUND": "1", "LOG_LEVEL": "error"]
        )
        try await waitForSocket()
        try NetworkSpaces.run("ip -n \(space) address add 10.66.0.1/16 dev \(name); ip -n \(space) link set \(name) up")
        var change = UAPIConfiguration()
        change.privateKey = .replace(key)
        change.listenPort = 0
        try await client.apply(change)
    }

    deinit {
        _ = process.kill()
        try? FileManager.default.removeItem(atPath: path)  // it removes the socket itself unless it is killed
    }

    /// Waits until it answers, which it does soon after its start.
    private func waitForSocket() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try await client.device()
                return
            } catch UAPIError.unreachable where ContinuousClock.now < end {
                await Task.yield()
            }
        }
    }

    /// Its UDP port.
    func port() async throws -> UInt16 { try await client.device().listenPort }

    /// Adds our side as its peer.
    func add(_ peer: DatagramPeer, knowsPort: Bool, preshared: PresharedKey = .zero) async throws {
        var change = UAPIConfiguration.PeerChange(publicKey: peer.key.publicKey)
        change.presharedKey = preshared
        change.allowedAddresses = [try #require(AddressPrefix(.v4(Self.otherAddress), length: 32))]
        if knowsPort { change.endpoint = SocketAddress(.v4(DatagramPeer.loopback), port: peer.socket.port) }
        var configuration = UAPIConfiguration()
        configuration.peers = [change]
        try await client.apply(configuration)
    }

    /// A socket inside the tunnel, on the address of the interface.
    func innerSocket() async throws -> SpaceSocket {
        try await spaces.inside("tunnel") { try SpaceSocket(address: Self.address) }
    }

    /// A socket outside of the tunnel, by which wireguard-go is reached at the loopback address.
    func outerSocket() async throws -> SpaceSocket {
        try await spaces.inside("tunnel") { try SpaceSocket(address: DatagramPeer.loopback) }
    }
}
#endif
