internal import Bytes
internal import Concurrency
internal import Identity

@testable internal import Discovery

/// The numbers of tokens and of signatures that were verified.
final class VerificationCount: Sendable {
    private let counts = Locked((tokens: 0, signatures: 0))

    var tokens: Int { counts.withLock { $0.tokens } }
    var signatures: Int { counts.withLock { $0.signatures } }

    var verifier: Discovery.Verifier {
        Discovery.Verifier(
            token: { token in
                self.counts.withLock { $0.tokens += 1 }
                return token.verifySignature()
            },
            signature: { key, message, signature in
                self.counts.withLock { $0.signatures += 1 }
                return key.isValidSignature(signature, for: message)
            }
        )
    }
}

/// One `Discovery` controlled by a test, with real signatures: a member that receives the inputs of a link.
struct Host {
    let member: Member
    var discovery: Discovery
    var now = NodeTime(monotonic: .seconds(5_000), wallSeconds: 1_800_000_000)
    let count = VerificationCount()
    /// Everything since the last ``take()``.
    private var effects: [Discovery.Effect] = []
    private var nonces: NonceSource
    private var wake: Duration?

    init(seed: UInt64 = 100, start: UInt64 = 0) throws {
        var member = Member(seed: seed)
        var random = SeededGenerator(seed: seed &+ start, name: "host")
        if start > 0 { member.instance = InstanceId(generating: &random) }
        self.member = member
        var nonceKey = random.bytes(32)
        let key = SecretBytes(consuming: &nonceKey)
        discovery = Discovery(
            Discovery.Configuration(
                signer: member.key,
                instance: member.instance,
                nonceKey: key,
                randomSeed: seed,
                verifier: count.verifier
            )
        )
        nonces = NonceSource(key: key, instance: InstanceId(generating: &random))
        give(.addressesChanged([try SocketAddress(parsing: "192.0.2.100:4433")]))
        give(.started)
    }

    /// A running member of `network`.
    init(seed: UInt64 = 100, start: UInt64 = 0, of network: Network) throws {
        try self.init(seed: seed, start: start)
        try join(network)
    }

    mutating func join(_ network: Network) throws {
        give(.networkAdded(try network.token(for: member.peerId), network.secrets))
    }

    mutating func give(_ input: Discovery.Input) {
        let begin = effects.count
        discovery.handle(input, at: now, into: &effects)
        for case .wake(let time) in effects[begin...] { wake = time }
    }

    /// Advances the time, with every requested wake.
    mutating func pass(_ duration: Duration) {
        let begin = now
        let end = begin.monotonic + duration
        while now.monotonic < end {
            now.monotonic = min(end, max(now.monotonic, wake ?? end))
            now.wallSeconds = begin.wallSeconds + UInt64((now.monotonic - begin.monotonic).components.seconds)
            guard let due = wake, due <= now.monotonic else { continue }
            wake = nil
            give(.timeReached)
        }
    }

    /// The effects since the last call, but wakes.
    mutating func take() -> [Discovery.Effect] {
        defer { effects = [] }
        return effects.filter { if case .wake = $0 { false } else { true } }
    }

    /// The datagrams among the effects since the last call.
    mutating func takeDatagrams() -> [[UInt8]] {
        take().compactMap { if case .host(.multicast(let bytes)) = $0 { bytes } else { nil } }
    }

    /// Returns the discovered, lost or ignored announcements since the last call.
    mutating func takeNews() -> [Discovery.Effect] {
        take().filter { if case .host(.multicast) = $0 { false } else { true } }
    }

    mutating func hear(_ datagram: [UInt8], from source: String = "192.0.2.1:4242") throws {
        give(.datagramReceived(datagram, from: try SocketAddress(parsing: source)))
    }

    mutating func hear(_ announcement: Announcement, of network: Network, from source: String = "192.0.2.1:4242") throws
    {
        try hear(seal(announcement, of: network), from: source)
    }

    /// Returns the datagram in which a member of `network` would send an announcement.
    mutating func seal(_ announcement: Announcement, of network: Network) throws -> [UInt8] {
        guard let beacon = network.beaconKey.seal(announcement, nonce: nonces.next()) else {
            throw BytesError.invalidValue("a beacon that cannot be sealed")
        }
        return beacon
    }

    func isPresent(_ peer: PeerId, in network: Network) -> Bool {
        discovery.peers(in: network.id).contains { $0.peer == peer }
    }
}
