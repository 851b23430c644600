internal import Foundation
internal import RunarNode

/// Typed requests: to a service of another process, to one of the same node, and the cost of a node before the first one.
enum ServiceSide {
    private static let warmUps = 300
    private static let action = "math/add"
    /// The number of starts that are measured.
    private static let rounds = 5

    struct Addends: Codable, Sendable {
        let a: Double
        let b: Double
        let note: String

        /// As long in JSON as the payloads of the other drivers.
        static let example = Addends(a: 5.25, b: 3.5, note: "sixty-four bytes, as the others")
    }

    private static func math(in network: String? = nil) -> RunarService {
        let service = RunarService(name: "Math", path: "math", version: "1.0.0", description: "adds")
        service.networkId = network
        service.registerAction("add") { (addends: Addends?) async throws -> Double in
            guard let addends else { throw RunarError.invalidParameters }
            return addends.a + addends.b
        }
        service.registerRawAction("echo") { $0.payload }
        return service
    }

    static func serve() async throws {
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let probe = Ticket(peerId: PeerId(publicKey: network.publicKey), network: network)
        let node = try await probe.member(withHashTable: true)
        let ticket = Ticket(peerId: node.peerId, network: network)
        try await node.addService(math(in: ticket.networkId.base64Encoded))
        Output.result(["id": ticket.text, "address": "127.0.0.1:\(node.listeningPort)"])
        Output.endWithInput()
        await Output.inputEnded()
    }

    static func measure(_ order: Order) async throws {
        let ticket = try Ticket(text: order.id)
        let node = try await ticket.member(withHashTable: true)
        try await node.connectToPeer(peerId: ticket.peerId, networkId: ticket.networkId, address: order.address)
        let path = "\(ticket.networkId.base64Encoded):\(action)"
        for _ in 0..<warmUps { try await ask(node, path) }
        switch order.operation {
        case .roundtrip: try await Timing.roundTrips(order.count) { try await ask(node, path) }
        case .parallel: try await Timing.parallel(order) { try await ask(node, path) }
        default: throw BenchError("services are asked: roundtrip or parallel")
        }
    }

    /// A typed request to a service of the same node, and one in bytes, as the C library makes it.
    static func local(count: Int) async throws {
        let node = try RunarNode(config: .createTestConfig())
        try await node.addService(math())
        try await node.start()
        for _ in 0..<warmUps { try await ask(node, action) }
        let started = ContinuousClock.now
        for _ in 0..<count { try await ask(node, action) }
        let elapsed = ContinuousClock.now - started
        let payload = try JSONEncoder().encode(Addends.example)
        var latencies: [Duration] = []
        for _ in 0..<min(count, 20_000) {
            let started = ContinuousClock.now
            _ = try await node.requestRaw("math/echo", payload: payload)
            latencies.append(ContinuousClock.now - started)
        }
        Output.result([
            "perSecond": Double(count) / elapsed.seconds,
            "rawP50Microseconds": latencies.percentile(0.5).microseconds,
        ])
        await node.stop()
    }

    /// Measures the start from a data directory to a running node, with `records` records of a member in its store.
    static func start(records: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // bench.py removes the rest
        let place = { (name: String) in folder.appending(path: name).path(percentEncoded: false) }
        try VaultFile.makeKeyFile(at: place("key"))
        let secret = VaultSecret.keyFile(path: place("key"))
        try VaultFile.create(at: place("vault"), secret: secret).close()
        var times: [Duration] = []
        for round in 0...rounds {
            let started = ContinuousClock.now
            let vault = try VaultFile.open(at: place("vault"), secret: secret)
            let config = RunarNodeConfig.createTestConfig()
            config.keyStorage = vault
            config.statePath = place("state")
            let node = try RunarNode(config: config)
            try await node.start()
            if round > 0 { times.append(ContinuousClock.now - started) } else { try await fill(node, records) }
            await node.stop()
            vault.close()
        }
        Output.result(["milliseconds": times.percentile(0.5).microseconds / 1000])
    }

    /// Makes the node a member and has it store records, which another member takes, too.
    private static func fill(_ node: RunarNode, _ count: Int) async throws {
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let id = NetworkId(publicKey: network.publicKey)
        let other = try await Ticket(peerId: node.peerId, network: network).member(withHashTable: true)
        let token = try AccessToken.create(
            peerId: node.peerId,
            networkId: id,
            networkPrivateKey: network.privateKey,
            expiration: nil
        )
        try await node.joinNetwork(networkId: id, accessToken: token)
        let address = "127.0.0.1:\(other.listeningPort)"
        try await node.connectToPeer(peerId: other.peerId, networkId: id, address: address)
        let value = Data(repeating: 0x5A, count: 256)
        for number in 0..<count {
            try await node.dhtPut(networkId: id, key: Data("record \(number)".utf8), value: value)
        }
        await other.stop()
    }

    private static func ask(_ node: RunarNode, _ path: String) async throws {
        let sum: Double = try await node.request(path, payload: Addends.example)
        guard sum == 8.75 else { throw BenchError("5.25 and 3.5 are not \(sum)") }
    }
}
