#if os(Linux)
internal import Concurrency
internal import CryptoPrimitives
internal import Glibc
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import WireGuard

@testable internal import Tunnel

/// Two engines of this package in two namespaces that a cable joins, each over resources that outlive it.
final class EnginePair: Sendable {
    /// One engine on a thread, and the client that configures it.
    final class Running: Sendable {
        let client: UAPIClient
        let ended = Promise<TunnelError?>()
        private let engine: WireGuardEngine

        init(_ resources: TunnelResources) throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let control = ends[0]
            client = UAPIClient(connection: ends[1], timeLimit: .seconds(60))
            let engine = try WireGuardEngine(
                queues: resources.queues.map { dup($0) },
                sockets: resources.socketDescriptors.map { dup($0) }
            )
            self.engine = engine
            let ended = ended
            let status = SystemThread.start {
                do throws(TunnelError) {
                    try engine.run(control: control)
                    ended.fulfil(nil)
                } catch {
                    ended.fulfil(error)
                }
            }
            #expect(status == 0)
        }

        func stop() async {
            engine.stop()
            _ = await ended.waitIgnoringCancellation()
        }
    }

    static let port: UInt16 = 7_000
    static let roles = ["left", "right"]
    static let inner = ["10.66.0.1", "10.66.0.2"]
    static let innerIPv6 = ["fd66::1", "fd66::2"]
    static let outer = ["192.0.2.1", "192.0.2.2"]
    static let outerIPv6 = ["2001:db8::1", "2001:db8::2"]

    let spaces = NetworkSpaces()
    let resources: [TunnelResources]
    let keys: [X25519PrivateKey]
    private let engines: Locked<[Running]>
    private let usesIPv6: Bool
    private let relayPorts: [UInt16]

    /// Makes the pair; the engines reach each other over IPv4 or IPv6.
    ///
    /// With `relayPorts`, each engine sends to a relay at its port of the right outer IPv4 address.
    init(queues: Int = 1, usesIPv6: Bool = false, relayPorts: [UInt16] = []) async throws {
        var random = SplitMix64(seed: 45)
        keys = Self.roles.map { _ in X25519PrivateKey(using: &random) }
        self.usesIPv6 = usesIPv6
        self.relayPorts = relayPorts
        try spaces.add(Self.roles)
        let names = Self.roles.map(spaces.space)
        try NetworkSpaces.run("ip -n \(names[0]) link add eth0 type veth peer name eth0 netns \(names[1])")
        var resources: [TunnelResources] = []
        for (index, role) in Self.roles.enumerated() {
            try NetworkSpaces.run(
                """
                ip -n \(names[index]) address add \(Self.outer[index])/24 dev eth0
                ip -n \(names[index]) address add \(Self.outerIPv6[index])/64 dev eth0 nodad
                ip -n \(names[index]) link set eth0 up
                """
            )
            let texts = ["\(Self.inner[index])/24", "\(Self.innerIPv6[index])/64"]
            let addresses = try texts.map { try #require(InterfaceAddress(parsing: $0)) }
            let network = TunnelNetwork(interface: "wg\(index)", mtu: 1_420, addresses: addresses, routing: .only([]))
            let plan = TunnelPlan(network: network, queues: queues)
            resources.append(try await spaces.inside(role) { try TunnelResources(plan) })
        }
        self.resources = resources
        var engines: [Running] = []
        for (role, resources) in zip(Self.roles, resources) {
            // The threads of an engine inherit the namespace.
            engines.append(try await spaces.inside(role) { try Running(resources) })
        }
        self.engines = Locked(engines)
        for index in 0..<2 { try await configure(index) }
    }

    deinit {
        // The end of the connection ends an engine.
        engines.withLock { $0 = [] }
    }

    func client(_ index: Int) -> UAPIClient { engines.withLock { $0[index].client } }

    func engine(_ index: Int) -> Running { engines.withLock { $0[index] } }

    /// Replaces an engine by another one with the same resources.
    func replace(_ index: Int) async throws {
        await engine(index).stop()
        let resources = resources[index]
        let next = try await spaces.inside(Self.roles[index]) { try Running(resources) }
        engines.withLock { $0[index] = next }
        try await configure(index)
    }

    private func configure(_ index: Int) async throws {
        let other = 1 - index
        var peer = UAPIConfiguration.PeerChange(publicKey: keys[other].publicKey)
        let place = usesIPv6 ? Self.outerIPv6[other] : Self.outer[other]
        peer.endpoint = SocketAddress(try #require(IPAddress(place)), port: resources[other].port)
        if !relayPorts.isEmpty {
            peer.endpoint = SocketAddress(try #require(IPAddress(Self.outer[1])), port: relayPorts[index])
        }
        for (text, length) in [(Self.inner[other], 32), (Self.innerIPv6[other], 128)] {
            let address = try #require(IPAddress(text))
            peer.allowedAddresses.append(try #require(AddressPrefix(address, length: length)))
        }
        var configuration = UAPIConfiguration()
        configuration.privateKey = .replace(keys[index])
        configuration.mtu = 1_420
        configuration.peers = [peer]
        try await client(index).apply(configuration)
    }

    /// Sends bytes over TCP through the tunnel and returns the received ones.
    func stream(from index: Int, isIPv6: Bool = false, _ bytes: [UInt8]) async throws -> [UInt8] {
        let address = (isIPv6 ? Self.innerIPv6 : Self.inner)[1 - index]
        let listener = try await spaces.inside(Self.roles[1 - index]) {
            let listener = try PlainSocket(isIPv6: isIPv6, isStream: true)
            try listener.set(SOL_SOCKET, SO_REUSEADDR, 1)
            try listener.bind(address, Self.port)
            try listener.listen()
            return listener
        }
        async let received = aside {
            let peer = try listener.accept()
            var all: [UInt8] = []
            while true {
                let piece = try peer.receive()
                if piece.isEmpty { return all }
                all += piece
            }
        }
        try await spaces.inside(Self.roles[index]) {
            let sender = try PlainSocket(isIPv6: isIPv6, isStream: true)
            try sender.connect(address, Self.port)
            try sender.send(bytes)
            sender.endSending()
        }
        return try await received
    }
}
#endif
