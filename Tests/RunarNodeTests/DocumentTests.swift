internal import Foundation
// The examples of the bindings design and of the mobile specification, as programs outside the package see the library.
import RunarNode
internal import Testing

/// The bindings design's service, word for word but for the two marks of Swift 6 in its first line.
private final class MathService: RunarService, @unchecked Sendable {
    init() {
        super.init(
            name: "Math Service",
            path: "math",
            version: "1.0.0",
            description: "Basic math operations"
        )

        registerAction("add") { (params: [String: Double]?) async throws -> Double in
            guard let params = params,
                let a = params["a"],
                let b = params["b"]
            else {
                throw RunarError.invalidParameters
            }
            return a + b
        }
    }
}

@Suite("The documents' examples", .timeLimit(.minutes(15))) struct DocumentTests {
    /// The application of the bindings design, whose keys are in a directory of the test's own.
    private func runApplication(in home: URL, requireBiometric: Bool) async throws -> Double {
        // Create configuration
        let config = RunarNodeConfig(
            nodeId: "ios-app-node",
            defaultNetworkId: "my-network"
        )

        // Configure keychain
        config.keychainConfig = RunarKeychainConfig(
            serviceName: "com.myapp.runar"
        )
        config.keychainConfig?.requireBiometric = requireBiometric
        config.homePath = home.path()
        config.discoveryGroups = nil

        // Create node
        let node = try RunarNode(config: config)

        // Register service
        let mathService = MathService()
        try await node.addService(mathService)

        // Start node
        try await node.start()

        // Make request
        let result: Double = try await node.request(
            "math/add",
            payload: ["a": 5.0, "b": 3.0]
        )
        await node.stop()
        return result
    }

    private func withHome(_ body: (URL) async throws -> Void) async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "runar-document-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }  // temporary anyway
        try await body(home)
    }

    @Test func `the math service answers eight`() async throws {
        try await withHome { home in
            let result = try await runApplication(in: home, requireBiometric: false)
            #expect(result == 8)
        }
    }

    @Test func `with biometrics required it starts where the system has them, and nowhere else`() async throws {
        try await withHome { home in
            do {
                let result = try await runApplication(in: home, requireBiometric: true)
                #expect(result == 8)
            } catch KeychainError.unsupported {
                // A vault file asks nobody.
            }
        }
    }

    @Test func `requests of the document's three forms reach a service`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        let node = try RunarNode(config: config)
        let echo = RunarService(name: "Echo", path: "echo", version: "1.0.0", description: "Says it again")
        echo.registerAction("say") { (payload: [String: RunarValue]?) async throws -> [String: RunarValue] in
            payload ?? [:]
        }
        echo.registerAction("upper") { (text: String?) async throws -> String in (text ?? "").uppercased() }
        try await node.addService(echo)
        try await node.start()
        let upper: String = try await node.request("echo/upper", payload: "a")
        let said = try await node.request("echo/say", payload: ["a": 1, "b": [true, nil]])
        let raw = try await node.requestRaw("echo/upper", payload: Data(#""b""#.utf8))
        #expect(upper == "A" && said == ["a": 1, "b": [true, nil]] && String(decoding: raw, as: UTF8.self) == #""B""#)
        await node.stop()
    }

    private func makeNode() throws -> RunarNode {
        let config = NodeConfig(
            keyStorage: InMemoryKeyStorage(),
            statePath: nil,
            listenAddresses: [SocketAddress("127.0.0.1:0")].compactMap(\.self)
        )
        config.discoveryGroups = nil
        return try RunarNode(config: config)
    }

    @Test func `the workflows of the mobile specification lead from a master key to a value in the table`() async throws
    {
        let (admin, runarNode) = (try makeNode(), try makeNode())
        try await admin.start()
        try await runarNode.start()

        // Network creation: the node keeps the master key, derives the network's and signs the metadata.
        let networkMetadata = try admin.createNetwork(name: "My Personal Network")
        let networkQRString = try networkMetadata.qrString

        // The peer reads the network's code and shows its id.
        let scanned = try NetworkMetadata.fromQRString(networkQRString)
        guard scanned.verify() else { throw NetworkError.invalidSignature }
        let peerIdString = runarNode.peerId.base64Encoded

        // The administrator reads the peer's id and issues a token for thirty days.
        let peerId = try PeerId(base64Encoded: peerIdString)
        let expirationDate = Calendar.current.date(byAdding: .day, value: 30, to: Date())
        let issued = try admin.issueToken(for: peerId, in: networkMetadata.networkId, expiration: expirationDate)

        // Network joining.
        let accessToken = try AccessToken.fromQRString(issued.qrString)
        #expect(accessToken.peerId == peerId && accessToken.networkId == scanned.networkId)
        try runarNode.addNetwork(scanned)
        try await runarNode.joinNetwork(networkId: scanned.networkId, accessToken: accessToken)

        // Peer connection, without a STUN server between.
        let connectionData = try admin.connectionData(
            networkId: scanned.networkId,
            address: "127.0.0.1:\(admin.listeningPort)"
        )
        let parsed = try PeerConnectionData.fromQRString(connectionData.qrString)
        let connection = try await runarNode.connectToPeer(
            peerId: parsed.peerId,
            networkId: parsed.networkId,
            address: parsed.address
        )
        #expect(connection.peerId == admin.peerId)

        // DHT interaction.
        let key = Data("user/profile/\(UUID().uuidString)".utf8)
        let value = try JSONEncoder().encode(["name": "Alice"])
        try await runarNode.dhtPut(networkId: scanned.networkId, key: key, value: value)
        let found = try await admin.dhtGet(networkId: scanned.networkId, key: key)
        #expect(try found.map { try JSONDecoder().decode([String: String].self, from: $0) } == ["name": "Alice"])

        #expect(try await ask("math/add", of: admin, by: runarNode, in: scanned.name) == 8)
        await runarNode.stop()
        await admin.stop()
    }

    /// A service of the one device, asked by the other one.
    private func ask(_ path: String, of admin: RunarNode, by runarNode: RunarNode, in name: String) async throws
        -> Double
    {
        let math = MathService()
        math.networkId = name
        try await admin.addService(math)
        let options = RequestOptions(peer: admin.peerId)
        return try await runarNode.request("\(name):\(path)", payload: ["a": 5.0, "b": 3.0], options: options)
    }
}
