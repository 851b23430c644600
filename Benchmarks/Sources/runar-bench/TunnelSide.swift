internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import Tunnel
internal import WireGuard

/// One of the two ends of a tunnel, in the network namespace of the process: our engine under a supervisor, or wireguard-go.
///
/// Both ends have fixed keys, ports and addresses, so that each knows the other one.
enum TunnelSide {
    private static let port: UInt16 = 51_820
    private static let mtu = 1_420
    private static let addresses: [UInt32] = [0x0A42_0001, 0x0A42_0002]

    /// The order for an end: the number of the end, 0 or 1, the other end's address outside of the tunnel, the name of the
    /// interface, the engine's program, and the path of its configuration socket.
    struct Order {
        let number: Int
        let other: IPAddress
        let interface: String
        let program: String
        let socket: String

        init(_ words: ArraySlice<String>) throws {
            let words = Array(words)
            guard words.count == 5, let number = Int(words[0]), (0...1).contains(number),
                let other = IPAddress(words[1])
            else { throw BenchError("usage: runar-bench tunnel own|go 0|1 ADDRESS INTERFACE PROGRAM SOCKET") }
            self.number = number
            self.other = other
            interface = words[2]
            program = words[3]
            socket = words[4]
        }
    }

    /// Runs our engine, restarted whenever it ends, until the input of the process ends.
    static func serveOwn(_ order: Order) async throws {
        guard let address = InterfaceAddress(.v4(addresses[order.number]), prefixLength: 16) else {
            throw BenchError("the address of the tunnel is invalid")
        }
        let network = TunnelNetwork(interface: order.interface, mtu: mtu, addresses: [address], routing: .only([]))
        let resources = try TunnelResources(TunnelPlan(network: network, port: port))
        let engine = UAPIEngine(
            program: .own(path: order.program),
            interface: resources.device.name,
            queues: resources.queues,
            sockets: resources.socketDescriptors,
            path: order.socket
        )
        var configuration = try configuration(order)
        configuration.mtu = UInt16(mtu)
        let supervisor = TunnelSupervisor(resources: resources, engine: engine, configuration: configuration) {
            switch $0 {
            case .started(let restarts) where restarts == 0: announce(order)
            case .started, .ended: break
            case .failed(let reason): Output.complain(reason)
            }
        }
        async let run: Void = supervisor.run()
        await Output.inputEnded()
        await supervisor.stop()
        await run
    }

    /// Runs wireguard-go, which makes an interface without an address, until the input of the process ends.
    static func serveGo(_ order: Order) async throws {
        let engine = UAPIEngine(
            program: .wireguardGo(path: order.program),
            interface: order.interface,
            queues: [],
            sockets: [],
            path: order.socket
        )
        var configuration = try configuration(order)
        configuration.listenPort = port
        try await engine.start(with: configuration)
        announce(order)
        await Output.inputEnded()
        await engine.stop()
    }

    private static func announce(_ order: Order) {
        Output.result(["id": "\(SystemProcess.id)", "address": order.interface])
    }

    private static func configuration(_ order: Order) throws -> UAPIConfiguration {
        let (own, other) = (order.number, 1 - order.number)
        var peer = UAPIConfiguration.PeerChange(publicKey: try key(other).publicKey)
        peer.endpoint = SocketAddress(order.other, port: port)
        peer.allowedAddresses = [AddressPrefix(.v4(addresses[other]), length: 32)].compactMap(\.self)
        var configuration = UAPIConfiguration()
        configuration.privateKey = .replace(try key(own))
        configuration.peers = [peer]
        return configuration
    }

    private static func key(_ number: Int) throws -> X25519PrivateKey {
        try X25519PrivateKey(rawRepresentation: [UInt8](repeating: UInt8(number + 1), count: 32))
    }
}
