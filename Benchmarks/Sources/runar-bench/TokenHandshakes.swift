internal import Crypto
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import WireGuard

/// The peers that redeemed tokens make, at a WireGuard interface without sockets: handshakes and memory.
enum TokenHandshakes {
    /// The parts of a measurement, in which all operations take turns.
    private static let sliceCount = 10
    /// The agreements by the library for one handshake, which has four or five.
    private static let agreementsPerHandshake = 5
    /// The time between two handshakes: an interface demands cookies from twice as many a second on.
    private static let distance = Duration.milliseconds(1)
    /// A time after which an initiation without a response is repeated, whatever its random delay.
    private static let repetition = Duration.seconds(10)

    /// Measures the responses to `count` new peers, then to the same peers again, and agreements on X25519.
    ///
    /// A response needs five operations on X25519 for a new peer: a key, and the agreements of both static keys, of the
    /// static key with an ephemeral one, and of the new key with both of the initiator. That of the static keys is kept.
    static func measureHandshakes(count: Int) throws {
        var random = SystemRandom()
        var gateway = TokenGateway(using: &random)
        var clients = (0..<count).map { gateway.addClient($0, using: &random) }
        let first = try clients.indices.map { try clients[$0].begin(at: start, using: &random) }
        let later = start + repetition + distance * count
        let second = try clients.indices.map { try clients[$0].repeatInitiation(at: later, using: &random) }
        let (own, other) = (Curve25519.KeyAgreement.PrivateKey(), Curve25519.KeyAgreement.PrivateKey().publicKey)
        var (agreements, handshakes, renewals) = (ProcessorRate(), ProcessorRate(), ProcessorRate())
        let slices = (0..<sliceCount).map { (count * $0 / sliceCount)..<(count * ($0 + 1) / sliceCount) }
        func measureAgreements(_ slice: Range<Int>) throws {
            try agreements.measure(0..<(slice.count * agreementsPerHandshake)) { _ in
                _ = try own.sharedSecretFromKeyAgreement(with: other)
            }
        }
        for slice in slices {
            try measureAgreements(slice)
            try handshakes.measure(slice) { number in
                _ = try gateway.respond(to: first[number], number, at: start + distance * number, using: &random)
            }
        }
        for slice in slices {
            try measureAgreements(slice)
            try renewals.measure(slice) { number in
                _ = try gateway.respond(to: second[number], number, at: later + distance * number, using: &random)
            }
        }
        Output.result([
            "agreements": agreements.perSecond, "handshakes": handshakes.perSecond, "renewals": renewals.perSecond,
        ])
    }

    /// Prints the growth of resident memory for each of `count` peers: configured, and with a session.
    static func measurePeers(count: Int) throws {
        var random = SystemRandom()
        // The code and the tables of the library are in memory before the measurement.
        var other = TokenGateway(using: &random)
        try other.connect(other.addClient(0, using: &random), at: start, using: &random)
        var gateway = TokenGateway(using: &random)
        let before = try Output.residentKibibytes()
        var keys: [TokenGateway.ClientKeys] = []
        for number in 0..<count { keys.append(gateway.addKeys(number, using: &random)) }
        let configured = try Output.residentKibibytes()
        for number in 0..<count {
            // The client exists no longer than its handshake, so that its memory is used again.
            try gateway.connect(gateway.client(keys[number]), at: start + distance * number, using: &random)
        }
        let connected = try Output.residentKibibytes()
        func kilobytes(_ end: Int) -> Double { Double(end - before) * 1.024 / Double(count) }
        Output.result(["configured": kilobytes(configured), "connected": kilobytes(connected)])
    }

    private static var start: Duration { .seconds(1_000) }
}
