internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport

/// A network with a few members whose records a test makes by itself.
struct Household {
    let network: FakeNetwork
    let signers: [FakeSigner]

    init(members: Int = 4, seed: UInt64 = 1) {
        var random = SeededGenerator(seed: seed)
        self.network = FakeNetwork(using: &random)
        self.signers = (0..<members).map { _ in FakeSigner(using: &random) }
    }

    var peers: [PeerId] { self.signers.map { PeerId(publicKey: $0.publicKey) } }

    /// A record of one byte, or a tombstone.
    func record(
        _ key: String,
        _ value: UInt8?,
        version: UInt64,
        writer: Int,
        lifetime: UInt64 = 3600,
        at seconds: UInt64 = Swarm.epoch
    ) throws -> Record {
        try Record.create(
            key: Array(key.utf8),
            value: value.map { [$0] },
            version: version,
            expirySeconds: seconds + lifetime,
            token: self.network.token(for: self.peers[writer]),
            signer: self.signers[writer]
        )
    }

    func location(_ key: String) -> Bytes32 { Record.location(of: Array(key.utf8), in: self.network.id) }
}
