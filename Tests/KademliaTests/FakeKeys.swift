internal import Identity
internal import Kademlia
internal import TestSupport

extension FakeNetwork {
    func configuration(
        _ signer: FakeSigner,
        seed: UInt64,
        limits: Kademlia.Limits = Kademlia.Limits()
    ) -> Kademlia.Configuration {
        Kademlia.Configuration(
            localPeerId: PeerId(publicKey: signer.publicKey),
            networkId: self.id,
            signer: signer,
            verifySignature: FakeSigner.isValid,
            verifyToken: { [self] in self.isValid($0) },
            randomSeed: seed,
            limits: limits
        )
    }
}
