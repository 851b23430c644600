internal import Foundation
internal import RunarNode

/// The message of the server to its clients: its PeerId, and the key with which they sign tokens for themselves.
struct Ticket {
    let peerId: PeerId
    let network: Ed25519KeyPair

    var text: String { "\(peerId.base64Encoded),\(network.privateKey.rawRepresentation.base64EncodedString())" }

    init(peerId: PeerId, network: Ed25519KeyPair) {
        self.peerId = peerId
        self.network = network
    }

    init(text: String) throws {
        let parts = text.split(separator: ",").map(String.init)
        guard parts.count == 2, let raw = Data(base64Encoded: parts[1]) else {
            throw BenchError("no ticket: \(text)")
        }
        peerId = try PeerId(base64Encoded: parts[0])
        network = Ed25519KeyPair(privateKey: try Ed25519PrivateKey(rawRepresentation: raw))
    }

    var networkId: NetworkId { NetworkId(publicKey: network.publicKey) }

    /// Returns a running node that is a member; without a hash table it contacts only the peers that it is ordered to.
    ///
    /// Its database is in the folder `state`, which is made, or in memory.
    func member(withHashTable: Bool = false, state folder: URL? = nil) async throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        if let folder {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            config.statePath = folder.appending(path: "state.db").path(percentEncoded: false)
        }
        config.usesHashTable = withHashTable
        let node = try RunarNode(config: config)
        let token = try AccessToken.create(
            peerId: node.peerId,
            networkId: networkId,
            networkPrivateKey: network.privateKey,
            expiration: nil
        )
        try await node.start()
        try await node.joinNetwork(networkId: networkId, accessToken: token)
        return node
    }
}
