import Foundation
import Identity
import Testing

/// The workflows of the mobile specification, written as an app writes them, against the public API only.
///
/// A comment gives the reason wherever the specification's own lines could not be kept.
@Suite("Workflows of the specification") struct SpecificationSnippetsTests {
    /// Replaces the app's store of keys.
    private struct KeyStore {
        var masterKey: Ed25519KeyPair?
        var peerKey: Ed25519KeyPair?

        func getMasterKey() -> Ed25519KeyPair? { masterKey }
        func getPeerKey() -> Ed25519KeyPair? { peerKey }
        func generateMasterKey() -> Ed25519KeyPair { Identity.generateMasterKey() }
        func generatePeerKey() -> Ed25519KeyPair { Identity.generatePeerKey() }
    }

    /// Replaces the app's QR code generator: the text is the content of a code.
    private struct QRGenerator {
        func generateNetworkQR(from metadata: NetworkMetadata) throws -> String { try metadata.qrString }
        func generateTokenQR(from token: AccessToken) -> String { token.qrString }
        func generatePeerIdQR(from id: PeerId) -> String { id.base64Encoded }
        func generateConnectionQR(from data: PeerConnectionData) -> String { data.qrString }
    }

    /// Replaces the app's camera.
    private struct QRScanner {
        let texts: [String]

        func scanQRCode() -> AsyncStream<String> {
            AsyncStream { continuation in
                for text in texts { continuation.yield(text) }
                continuation.finish()
            }
        }
    }

    private let keyStore = KeyStore()
    private let keyDerivation = KeyDerivation.self
    private let qrGenerator = QRGenerator()

    @Test func `keys are made and derived`() {
        let masterKey: Ed25519KeyPair = generateMasterKey()
        let peerKey: Ed25519KeyPair = generatePeerKey()
        let networkKey: Ed25519KeyPair = deriveNetworkKey(masterKey: masterKey.privateKey, networkIndex: 0)
        #expect(networkKey != masterKey)
        #expect(peerKey != masterKey)
        let stored: Data = masterKey.privateKey.rawRepresentation
        #expect(stored.count == 32)
    }

    @Test func `a network is created, joined and used to connect`() async throws {
        // Network creation
        let masterKey = keyStore.getMasterKey() ?? keyStore.generateMasterKey()
        let networkKey = keyDerivation.deriveNetworkKey(masterKey: masterKey, networkIndex: 0)
        // `var`, since signing completes the value.
        var networkMetadata = NetworkMetadata(
            networkId: NetworkId(publicKey: networkKey.publicKey),
            name: "My Personal Network",
            adminPublicKey: masterKey.publicKey
        )
        // With the network's key: the master key's signature would prove nothing about the network.
        try networkMetadata.sign(with: networkKey.privateKey)
        let qrCode = try qrGenerator.generateNetworkQR(from: networkMetadata)

        // The joining peer reads it and shows its id
        let joining = try await join(qrCode)
        let peerIdQR = qrGenerator.generatePeerIdQR(from: joining.peerId)

        // The administrator issues a token for thirty days
        let peerIdString = await QRScanner(texts: [peerIdQR]).scanQRCode().first(where: { _ in true })
        let peerId = try PeerId(base64Encoded: #require(peerIdString))
        let expirationDate = Calendar.current.date(byAdding: .day, value: 30, to: Date())
        let accessToken = try AccessToken.create(
            peerId: peerId,
            networkId: networkMetadata.networkId,
            networkPrivateKey: networkKey.privateKey,
            expiration: expirationDate
        )
        let tokenQR = qrGenerator.generateTokenQR(from: accessToken)

        // The joining peer checks it
        let received = try await receive(tokenQR, peerId: joining.peerId, networkMetadata: joining.metadata)
        #expect(received == accessToken)

        // and shows how to reach it
        let connectionData = PeerConnectionData(
            peerId: joining.peerId,
            networkId: joining.metadata.networkId,
            address: "203.0.113.9:4433",
            token: received
        )
        let connectionQR = qrGenerator.generateConnectionQR(from: connectionData)
        let read = try await connect(connectionQR, selectedNetwork: networkMetadata)
        #expect(read == connectionData)
    }

    private func join(_ code: String) async throws -> (metadata: NetworkMetadata, peerId: PeerId) {
        let qrScanner = QRScanner(texts: [code])
        let networkQRString = try #require(await qrScanner.scanQRCode().first(where: { _ in true }))
        let networkMetadata = try NetworkMetadata.fromQRString(networkQRString)
        guard networkMetadata.verify() else {
            throw NetworkError.invalidSignature
        }
        let peerKey = keyStore.getPeerKey() ?? keyStore.generatePeerKey()
        let peerId = PeerId(publicKey: peerKey.publicKey)
        return (networkMetadata, peerId)
    }

    private func receive(
        _ code: String,
        peerId: PeerId,
        networkMetadata: NetworkMetadata
    ) async throws -> AccessToken {
        let qrScanner = QRScanner(texts: [code])
        let tokenQRString = try #require(await qrScanner.scanQRCode().first(where: { _ in true }))
        let accessToken = try AccessToken.fromQRString(tokenQRString)
        guard accessToken.peerId == peerId && accessToken.networkId == networkMetadata.networkId && accessToken.verify()
        else {
            throw NetworkError.invalidToken
        }
        return accessToken
    }

    private func connect(_ code: String, selectedNetwork: NetworkMetadata) async throws -> PeerConnectionData {
        let qrScanner = QRScanner(texts: [code])
        let connectionQRString = try #require(await qrScanner.scanQRCode().first(where: { _ in true }))
        let connectionData = try PeerConnectionData.fromQRString(connectionQRString)
        guard connectionData.networkId == selectedNetwork.networkId && connectionData.token.verify() else {
            throw ConnectionError.invalidData
        }
        return connectionData
    }

    @Test func `a token of another peer or network is noticed`() async throws {
        let networkKey = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 3)
        var metadata = NetworkMetadata(
            networkId: NetworkId(publicKey: networkKey.publicKey),
            name: "Mine",
            adminPublicKey: networkKey.publicKey
        )
        try metadata.sign(with: networkKey.privateKey)
        let token = try AccessToken.create(
            peerId: PeerId(publicKey: generatePeerKey().publicKey),
            networkId: metadata.networkId,
            networkPrivateKey: networkKey.privateKey
        )
        let nonMember = PeerId(publicKey: generatePeerKey().publicKey)
        await #expect(throws: NetworkError.invalidToken) {
            try await receive(token.qrString, peerId: nonMember, networkMetadata: metadata)
        }
        let data: Data = token.peerId.rawRepresentation + token.networkId.rawRepresentation
        #expect(!token.networkId.isValidSignature(token.signature, for: data))
    }
}
