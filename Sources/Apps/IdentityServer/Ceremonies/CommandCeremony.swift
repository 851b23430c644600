internal import Bytes
internal import Crypto
internal import Identity
internal import RegistrationModel

/// A ceremony that a program without passkeys began and that a person completes on a page of this server.
///
/// The idea is that of the device authorization grant (RFC 8628). The token goes to the program that knows the secret alone.
/// A person who follows a link of another person would hand over an account; therefore page and program show one number,
/// and the page shows the address at which the ceremony began.
struct CommandCeremony: Sendable {
    /// The kinds, with the data that the program proved.
    enum Purpose: Sendable, Hashable {
        /// A registration; the DID key signed the challenge.
        case register(handle: Handle, did: DIDKey, challenge: Challenge, didProof: DIDProof)
        /// A sign-in of the handle, or of the passkey that the person chooses.
        case authenticate(handle: Handle?)
    }

    /// The state.
    enum State: Sendable {
        /// Can transition to `done` or `failed`.
        case waiting
        /// The program has not fetched the answer yet; it gets it once.
        case done(SignedInReport)
        case failed(code: String, message: String)
    }

    /// The public name in the link: 16 random bytes in base64url.
    let id: String
    let purpose: Purpose
    /// The six digits that page and program show.
    let number: String
    /// The address at which it began.
    let address: IPAddress?
    /// The expiry on the monotonic clock.
    let expiry: Duration
    let secretDigest: [UInt8]
    var state = State.waiting
}

/// The ceremonies in progress, a value: each lasts ten minutes, and their number is bounded per address (per /64 for IPv6)
/// and in total.
struct CommandCeremonies: Sendable {
    static let life = Duration.seconds(600)
    static let limit = 4096
    static let limitPerAddress = 16

    private var ceremonies: [String: CommandCeremony] = [:]
    /// The ids in the order of their expiry.
    private var order: [String] = []

    var count: Int { ceremonies.count }

    /// Begins a ceremony; returns it with the secret of the program, or nil if there are too many.
    mutating func begin(
        _ purpose: CommandCeremony.Purpose,
        from address: IPAddress?,
        at now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> (ceremony: CommandCeremony, secret: String)? {
        removeExpired(at: now)
        let source = address.map { AddressSource($0) }?.host
        let own = ceremonies.values.count { $0.address.map { AddressSource($0) }?.host == source }
        guard ceremonies.count < Self.limit, own < Self.limitPerAddress else { return nil }
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max, using: &random) } }
        let secret = Base64URL.encode(bytes(32))
        let digits = String(Int.random(in: 0..<1_000_000, using: &random))
        let ceremony = CommandCeremony(
            id: Base64URL.encode(bytes(16)),
            purpose: purpose,
            number: String(repeating: "0", count: 6 - digits.utf8.count) + digits,
            address: address,
            expiry: now + Self.life,
            secretDigest: Self.digest(secret)
        )
        ceremonies[ceremony.id] = ceremony
        order.append(ceremony.id)
        return (ceremony, secret)
    }

    /// Returns a ceremony for its page; nil if it expired, never began or was completed.
    mutating func waiting(_ id: String, at now: Duration) -> CommandCeremony? {
        removeExpired(at: now)
        guard let ceremony = ceremonies[id], case .waiting = ceremony.state else { return nil }
        return ceremony
    }

    /// Returns the state for the program with the secret, or nil for another secret or id; an end is returned once.
    mutating func poll(_ id: String, secret: String, at now: Duration) -> CommandCeremony.State? {
        removeExpired(at: now)
        guard let ceremony = ceremonies[id], isSecret(secret, of: ceremony) else { return nil }
        if case .waiting = ceremony.state { return .waiting }
        remove(id)
        return ceremony.state
    }

    /// Ends a waiting ceremony; false if it no longer waits.
    mutating func end(_ id: String, as state: CommandCeremony.State, at now: Duration) -> Bool {
        guard waiting(id, at: now) != nil else { return false }
        ceremonies[id]?.state = state
        return true
    }

    /// Removes a ceremony for the program with the secret; false for another secret or id.
    mutating func cancel(_ id: String, secret: String, at now: Duration) -> Bool {
        removeExpired(at: now)
        guard let ceremony = ceremonies[id], isSecret(secret, of: ceremony) else { return false }
        remove(id)
        return true
    }

    private func isSecret(_ secret: String, of ceremony: CommandCeremony) -> Bool {
        ConstantTime.areEqual(Self.digest(secret), ceremony.secretDigest)
    }

    private mutating func remove(_ id: String) {
        ceremonies[id] = nil
        order.removeAll { $0 == id }
    }

    private mutating func removeExpired(at now: Duration) {
        while let id = order.first, let ceremony = ceremonies[id], ceremony.expiry <= now { remove(id) }
    }

    private static func digest(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }
}
