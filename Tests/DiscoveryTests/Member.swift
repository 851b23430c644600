internal import Bytes
internal import Identity

@testable internal import Discovery

/// A network of the tests, with its key.
struct Network {
    let key: Ed25519PrivateKey
    var secrets: MemberSecrets

    var id: NetworkId { NetworkId(publicKey: key.publicKey) }

    init(seed: UInt64 = 1, epoch: UInt64 = 1_800_000_000) throws {
        var random = SeededGenerator(seed: seed, name: "network")
        key = Ed25519PrivateKey(generating: &random)
        secrets = MemberSecrets(
            try MemberSecret.create(
                networkId: NetworkId(publicKey: key.publicKey),
                signer: key,
                epoch: epoch,
                generating: &random
            )
        )
    }

    var beaconKey: BeaconKey { BeaconKey(secrets.newest) }

    func token(for peer: PeerId, until seconds: UInt64? = nil) throws -> AccessToken {
        try AccessToken.create(peerId: peer, networkId: id, signer: key, expirationSeconds: seconds)
    }
}

/// A device of the tests, with its key.
struct Member {
    let key: Ed25519PrivateKey
    var instance: InstanceId

    var peerId: PeerId { PeerId(publicKey: key.publicKey) }

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed, name: "member")
        key = Ed25519PrivateKey(generating: &random)
        instance = InstanceId(generating: &random)
    }

    func announcement(
        in network: Network,
        counter: UInt64 = 1,
        wallSeconds: UInt64 = 1_800_000_000,
        isGoodbye: Bool = false,
        addresses: [String] = ["192.0.2.1:4433"],
        token: AccessToken? = nil,
        for carrier: Announcement.Carrier = .beacon
    ) throws -> Announcement {
        try Announcement(
            by: key,
            token: token ?? network.token(for: peerId),
            instance: instance,
            counter: counter,
            wallSeconds: wallSeconds,
            isGoodbye: isGoodbye,
            addresses: addresses.map { try SocketAddress(parsing: $0) },
            for: carrier
        )
    }
}
