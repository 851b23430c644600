internal import Bytes
internal import Concurrency
internal import Identity
internal import IdentityStore
internal import NanoTDF
internal import Platform
internal import RegistrationModel
internal import WebAuthn

/// The use cases of the identity server, without HTTP.
///
/// A registration, a sign-in and each change of an account is one ceremony: a challenge is issued, which writes nothing,
/// and its answer is verified, completed and stored in one transaction.
final class AccountService: Sendable {
    /// The client of a request, for the limits and the audit log.
    struct Client: Hashable, Sendable {
        let address: IPAddress?

        init(address: IPAddress?) {
            self.address = address
        }
    }

    let configuration: IdentityServerConfiguration
    let store: IdentityStore
    let relyingParty: RelyingParty
    let challenges = ChallengeAuthority()
    let decoys: DecoyCredentials
    let limits: RequestLimits
    let audit: AuditLog
    let clocks: Clocks
    let board: CeremonyBoard
    private let mint: Locked<TokenMint>

    /// Combines the parts.
    ///
    /// - Throws: ``IdentityTokenError/invalidConfiguration(reason:)``.
    init(
        _ configuration: IdentityServerConfiguration,
        store: IdentityStore,
        keys: TokenKeys,
        audit: AuditLog,
        clocks: Clocks
    ) throws {
        self.configuration = configuration
        self.store = store
        self.audit = audit
        self.clocks = clocks
        board = CeremonyBoard(clocks)
        var relyingParty = RelyingParty(
            id: configuration.rpId,
            name: configuration.rpName,
            origins: Set(configuration.origins.map(\.description))
        )
        relyingParty.allowsBackupEligibilityUpgrade = configuration.allowsBackupEligibilityUpgrade
        self.relyingParty = relyingParty
        decoys = try DecoyCredentials(from: keys.recipient.rawRepresentation)
        limits = RequestLimits(configuration.hasLimits ? RequestLimits.Rates() : nil)
        mint = Locked(try Self.mint(keys, configuration))
    }

    private static func mint(_ keys: TokenKeys, _ configuration: IdentityServerConfiguration) throws -> TokenMint {
        try TokenMint(
            keys,
            issuer: configuration.issuer,
            audience: configuration.audience,
            lifeSeconds: configuration.tokenLifeSeconds
        )
    }

    /// Takes the keys of tokens after a rotation.
    ///
    /// - Throws: ``IdentityTokenError/invalidConfiguration(reason:)``; the former keys stay then.
    func replaceKeys(_ keys: TokenKeys) throws {
        let new = try Self.mint(keys, configuration)
        mint.withLock { $0 = new }
    }

    var tokens: TokenMint { mint.withLock { $0 } }

    var nowSeconds: UInt64 { clocks.wallSeconds() }

    /// The time of challenges, in seconds of the monotonic clock.
    var challengeSeconds: UInt64 { UInt64(max(clocks.monotonic().components.seconds, 0)) }

    // MARK: Limits

    /// Refuses a request that its address or its handle may not make now.
    ///
    /// The bucket of a handle is found by the binding of its challenges, whether it has an account or not.
    func admit(_ client: Client, binding: [UInt8]? = nil) throws(IdentityServerError) {
        guard limits.admit(client.address, handle: binding, at: clocks.monotonic()) else { throw .tooManyRequests }
    }

    func admit(_ client: Client, _ handle: Handle?) throws(IdentityServerError) {
        try admit(client, binding: handle.map { challenges.binding(to: Self.context($0)) })
    }

    /// The context of a sign-in with a handle.
    static func context(_ handle: Handle) -> [UInt8] { context(Array(handle.text.utf8)) }

    // MARK: Challenges

    func issue(_ purpose: Challenge.Purpose, for context: [UInt8]) -> Challenge {
        var random = SystemRandom()
        return challenges.issue(purpose, for: context, at: challengeSeconds, using: &random)
    }

    /// The challenge that an authenticator answered.
    func challenge(in clientData: [UInt8]) throws -> Challenge {
        do {
            return try Challenge(try CollectedClientData(json: clientData).challenge)
        } catch let error as ChallengeError {
            throw IdentityServerError.challenge(error)
        }
    }

    /// Checks that a challenge is good for one of `purposes`.
    func check(_ challenge: Challenge, _ purposes: Set<Challenge.Purpose>) throws(IdentityServerError) {
        do {
            try challenges.check(challenge, purposes, at: challengeSeconds)
        } catch {
            throw .challenge(error)
        }
    }

    /// Checks that a challenge is good for a purpose and was issued for a context.
    func check(
        _ challenge: Challenge,
        _ purpose: Challenge.Purpose,
        for context: [UInt8]
    ) throws(IdentityServerError) {
        try check(challenge, [purpose])
        guard challenges.isBound(challenge, to: context) else { throw .challenge(.foreign) }
    }

    func complete(_ challenge: Challenge) throws(IdentityServerError) {
        do {
            try challenges.complete(challenge, at: challengeSeconds)
        } catch {
            throw .challenge(error)
        }
    }

    /// The context of a challenge: values, each after its length.
    static func context(_ values: [UInt8]...) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        for value in values {
            writer.write(UInt16(value.count))
            writer.write(value)
        }
        return writer.bytes
    }

    // MARK: Sessions

    /// A new session with its token.
    func begin(_ account: StoredAccount) throws -> (session: StoredSession, report: SignedInReport) {
        var random = SystemRandom()
        let now = nowSeconds
        let session = StoredSession(
            id: UniqueId(using: &random),
            userId: account.userId,
            at: now,
            expires: now + configuration.sessionLifeSeconds
        )
        return (session, try report(account, session: session.id))
    }

    /// The report of a session with a new token.
    func report(_ account: StoredAccount, session: UniqueId) throws -> SignedInReport {
        var random = SystemRandom()
        let token = try tokens.issue(for: account, session: session, at: nowSeconds, using: &random)
        return SignedInReport(
            userId: account.userId,
            handle: account.handle.qualified(by: configuration.handleDomain),
            did: account.did,
            token: token.text,
            expires: token.expires,
            session: session
        )
    }
}
