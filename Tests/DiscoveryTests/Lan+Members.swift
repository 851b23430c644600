internal import Bytes
internal import Identity

@testable internal import Discovery

/// Networks and members for a ``Lan``, with signatures that cost nothing.
struct CheapNetwork {
    let signer: CheapSigner
    var secrets: MemberSecrets

    var id: NetworkId { NetworkId(publicKey: signer.publicKey) }

    init(seed: UInt64 = 1, epoch: UInt64 = Lan.wallStart) throws {
        var random = SeededGenerator(seed: seed, name: "network")
        signer = CheapSigner(publicKey: Ed25519PrivateKey(generating: &random).publicKey)
        secrets = MemberSecrets(
            try MemberSecret.create(
                networkId: NetworkId(publicKey: signer.publicKey),
                signer: signer,
                epoch: epoch,
                generating: &random
            )
        )
    }

    func token(for peer: PeerId) throws -> AccessToken {
        try AccessToken.create(peerId: peer, networkId: id, signer: signer, expirationSeconds: nil)
    }
}

extension Discovery {
    /// A node of the tests; `start` distinguishes several starts of one device.
    static func cheap(_ seed: UInt64, start: UInt64 = 0, limits: Limits = Limits()) -> Discovery {
        var random = SeededGenerator(seed: seed, name: "cheap")
        let key = Ed25519PrivateKey(generating: &random).publicKey
        var startRandom = SeededGenerator(seed: seed &* 1_000 &+ start, name: "start")
        var nonceKey = startRandom.bytes(32)
        return Discovery(
            Configuration(
                signer: CheapSigner(publicKey: key),
                instance: InstanceId(generating: &startRandom),
                nonceKey: SecretBytes(consuming: &nonceKey),
                randomSeed: startRandom.next(),
                limits: limits,
                verifier: CheapSigner.verifier
            )
        )
    }
}

extension Lan {
    /// Adds `count` members of `network`, none of them started.
    mutating func addMembers(_ count: Int, of network: CheapNetwork, seed: UInt64 = 0) throws {
        for number in 0..<count {
            let index = add(.cheap(seed &* 10_000 &+ UInt64(number)))
            let token = try network.token(for: nodes[index].peerId)
            input(.networkAdded(token, network.secrets), to: index)
        }
    }

    /// For each ordered pair, how long after the later of the two starts the first discovered the second, ascending.
    func latencies() -> [Duration] {
        var found: [Duration] = []
        for (index, node) in nodes.enumerated() {
            for (other, peer) in nodes.enumerated() where other != index {
                guard let start = node.startedAt, let otherStart = peer.startedAt,
                    let heard = node.firstHeard[peer.peerId]
                else { continue }
                found.append(heard - max(start, otherStart))
            }
        }
        return found.sorted()
    }
}

extension [Duration] {
    /// Returns the value below which `share` percent of the durations are.
    func percentile(_ share: Int) -> Duration { self[Swift.min(count - 1, count * share / 100)] }

    /// In milliseconds, for people.
    var summary: String {
        let values = [50, 99, 100].map { share in
            let (seconds, attoseconds) = percentile(share).components
            return seconds * 1000 + attoseconds / 1_000_000_000_000_000
        }
        return "p50 \(values[0]) ms, p99 \(values[1]) ms, last \(values[2]) ms"
    }
}
