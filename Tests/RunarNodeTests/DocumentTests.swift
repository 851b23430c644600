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
    /// The application of the bindings design, with its keys in a directory of the test's own.
    private func makeApplication(in home: URL, requireBiometric: Bool) async throws -> RunarNode {
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
        return node
    }

    private func withHome(_ body: (URL) async throws -> Void) async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "runar-document-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }  // temporary anyway
        try await body(home)
    }

    @Test func `the math service answers eight`() async throws {
        try await withHome { home in
            let node = try await makeApplication(in: home, requireBiometric: false)

            // Start node
            try await node.start()

            // Make request
            let result: Double = try await node.request(
                "math/add",
                payload: ["a": 5.0, "b": 3.0]
            )
            #expect(result == 8)
            await node.stop()
        }
    }

    @Test func `a node that requires biometrics does not start on a vault file`() async throws {
        try await withHome { home in
            let node = try await makeApplication(in: home, requireBiometric: true)
            let error = await failure { try await node.start() }
            guard case .unsupported? = error as? KeychainError else { throw error ?? CancellationError() }
            #expect(!node.isRunning)
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
        let (selectedNetwork, accessToken) = try await join(runarNode, by: admin)
        try await LocalSTUNServer.run { server in
            let connection = try await connect(
                admin,
                to: runarNode,
                in: selectedNetwork,
                with: accessToken,
                stunServer: "\(server.address)"
            )
            #expect(connection.peerId == runarNode.peerId)
        }

        // DHT interaction.
        let key = Data("user/profile/\(UUID().uuidString)".utf8)
        let value = try JSONEncoder().encode(["name": "Alice"])
        try await runarNode.dhtPut(networkId: selectedNetwork.networkId, key: key, value: value)
        let found = try await admin.dhtGet(networkId: selectedNetwork.networkId, key: key)
        #expect(try found.map { try JSONDecoder().decode([String: String].self, from: $0) } == ["name": "Alice"])

        #expect(try await ask("math/add", of: admin, by: runarNode, in: selectedNetwork.name) == 8)
        await runarNode.stop()
        await admin.stop()
    }

    /// Network creation by the administrator and network joining by the peer, whose steps alternate.
    private func join(_ runarNode: RunarNode, by admin: RunarNode) async throws -> (NetworkMetadata, AccessToken) {
        let qrGenerator = QRCodeGenerator()

        // The node keeps the master key, derives the network's and signs the metadata.
        let networkMetadata = try admin.createNetwork(name: "My Personal Network")
        let networkQR = try qrGenerator.generateNetworkQR(from: networkMetadata)

        // The peer scans the network's code and shows its id.
        let scanned = try await NetworkMetadata.fromQRString(scan(networkQR))
        guard scanned.verify() else { throw NetworkError.invalidSignature }
        let peerIdQR = try qrGenerator.generatePeerIdQR(from: runarNode.peerId)

        // The administrator scans the peer's id and issues a token for thirty days.
        let peerId = try await PeerId(base64Encoded: scan(peerIdQR))
        let expirationDate = Calendar.current.date(byAdding: .day, value: 30, to: Date())
        let issued = try admin.issueToken(for: peerId, in: networkMetadata.networkId, expiration: expirationDate)
        let tokenQR = try qrGenerator.generateTokenQR(from: issued)

        // The peer scans the token, stores both and joins.
        let accessToken = try await AccessToken.fromQRString(scan(tokenQR))
        guard accessToken.peerId == runarNode.peerId, accessToken.networkId == scanned.networkId, accessToken.verify()
        else { throw NetworkError.invalidToken }
        try runarNode.addNetwork(scanned)
        try await runarNode.joinNetwork(networkId: scanned.networkId, accessToken: accessToken)
        return (scanned, accessToken)
    }

    /// Peer connection: A shows where it is, and B connects to it.
    private func connect(
        _ peerB: RunarNode,
        to peerA: RunarNode,
        in selectedNetwork: NetworkMetadata,
        with accessToken: AccessToken,
        stunServer: String
    ) async throws -> PeerConnection {
        // A gets its public endpoint and shows a connection code.
        let publicEndpoint = try await peerA.natTraversal.getPublicEndpoint(
            localPort: peerA.listeningPort,
            stunServer: stunServer
        )
        #expect(publicEndpoint == "127.0.0.1:\(peerA.listeningPort)")
        let shown = PeerConnectionData(
            peerId: peerA.peerId,
            networkId: selectedNetwork.networkId,
            address: publicEndpoint,
            token: accessToken
        )
        let connectionQR = try QRCodeGenerator().generateConnectionQR(from: shown)

        // B scans the code, verifies network and token, punches a hole and connects.
        let connectionData = try await PeerConnectionData.fromQRString(scan(connectionQR))
        guard connectionData.networkId == selectedNetwork.networkId, connectionData.token.verify() else {
            throw ConnectionError.invalidData
        }
        try await peerB.natTraversal.punchHole(
            localPort: peerB.listeningPort,
            peerAddress: connectionData.address
        )
        let connection = try await peerB.connectToPeer(
            peerId: connectionData.peerId,
            networkId: connectionData.networkId,
            address: connectionData.address
        )
        // The node has stored the connection for future use.
        #expect(peerB.connectedPeers(in: selectedNetwork.networkId) == [peerA.peerId])
        return connection
    }

    /// The text of a code that a camera sees.
    private func scan(_ qrCode: QRSymbol) async throws -> String {
        let qrScanner = QRCodeScanner()
        await qrScanner.scan(try GreyImage(of: qrCode))
        return try #require(await qrScanner.scanQRCode().first(where: { _ in true }))
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
