internal import APIDescription
internal import Concurrency
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import NanoTDF
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import CommandModel
@testable internal import IdentityServer

/// The use cases of a server, with a clock that a test turns.
final class Scene: Sendable {
    static let origin = "https://id.example.org"
    static let client = AccountService.Client(address: .v4(0x0A00_0001))

    static let databaseName = "identity.sqlite"
    static let auditName = "audit.log"

    /// Called whenever a use case of the task reads the time, on its thread: most steps do.
    @TaskLocal private static var onReadingTime: (@Sendable () -> Void)?

    /// Runs `body`, and `interruption` when a use case in it reads the time for the `reading`-th time.
    ///
    /// - Returns: The result of `body`, and whether it came to that reading.
    static func run<Success: Sendable>(
        interruptedAt reading: Int,
        by interruption: @escaping @Sendable () -> Void,
        _ body: () async -> Success
    ) async -> (result: Success, wasInterrupted: Bool) {
        let readings = Locked(0)
        let result = await $onReadingTime.withValue({
            let isNow = readings.withLock { count in
                count += 1
                return count == reading
            }
            if isNow { interruption() }
        }) {
            await body()
        }
        return (result, readings.withLock { $0 } >= reading)
    }

    let service: AccountService
    let store: IdentityStore
    let directory: TemporaryDirectory
    let keys: TokenKeys
    let audit: AuditLog
    private let seconds: Locked<UInt64>

    /// Makes a server of `id.example.org`.
    ///
    /// The keys of another one make it that one after a restart, without its accounts.
    init(
        _ settings: [IdentitySetting: [String]] = [:],
        startingAt start: UInt64 = 1_900_000_000,
        keys former: TokenKeys? = nil
    ) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        let seconds = Locked(start)
        self.seconds = seconds
        let clocks = Clocks(
            monotonic: {
                Self.onReadingTime?()
                return .seconds(seconds.withLock { $0 } - start)
            },
            wallSeconds: {
                Self.onReadingTime?()
                return seconds.withLock { $0 }
            }
        )
        let configuration = try Self.configuration(settings)
        store = try IdentityStore(path: directory.file(Self.databaseName))
        keys = try former ?? Self.newKeys()
        audit = try AuditLog(path: directory.file(Self.auditName)) { seconds.withLock { $0 } }
        service = try AccountService(
            configuration,
            store: store,
            keys: keys,
            audit: audit,
            clocks: clocks
        )
    }

    static func newKeys() throws -> TokenKeys {
        TokenKeys(
            signing: try NanoTDFPrivateKey(generatedOn: .secp256r1),
            previous: nil,
            recipient: try NanoTDFPrivateKey(generatedOn: .secp256r1)
        )
    }

    static func configuration(_ settings: [IdentitySetting: [String]]) throws -> IdentityServerConfiguration {
        let standard: [IdentitySetting: [String]] = [
            .rpId: ["id.example.org"], .origin: [origin], .handleDomain: ["example.social"],
        ]
        return try IdentityServerConfiguration(
            SettingValues(
                flags: standard.merging(settings) { $1 },
                environment: { _ in nil },
                file: [:],
                named: "identity.json"
            )
        )
    }

    var now: UInt64 { seconds.withLock { $0 } }

    func wait(_ duration: UInt64) { seconds.withLock { $0 += duration } }

    // MARK: Ceremonies

    /// Registers a person's handle, and returns the person.
    func register(_ handle: String, authenticator: SoftwareAuthenticator? = nil) async throws -> Person {
        var person = try Person(handle, authenticator: authenticator)
        let options = try await service.beginRegistration(person.handle, person.did, from: Self.client)
        let form = try person.answer(options)
        person.signedIn = try await service.finishRegistration(form, from: Self.client)
        return person
    }

    /// Begins a registration, and returns the form that completes it.
    func form(of person: inout Person) async throws -> RegisterForm {
        let options = try await service.beginRegistration(person.handle, person.did, from: Self.client)
        return try person.answer(options)
    }

    /// Begins a sign-in, and returns the assertion that completes it.
    func assertion(of person: inout Person, byHandle: Bool = true) async throws -> AuthenticationResponse {
        let handle = byHandle ? person.handle : nil
        return try person.assert(try await service.beginAuthentication(handle, from: Self.client))
    }

    /// Signs a person in with the handle, or by the passkey alone.
    func signIn(_ person: inout Person, byHandle: Bool = true) async throws -> SignedInReport {
        let assertion = try await assertion(of: &person, byHandle: byHandle)
        return try await service.finishAuthentication(assertion, from: Self.client)
    }

    /// Adds a passkey to a person's account after a confirmation.
    func add(_ passkey: Person, to person: inout Person, label: String? = nil) async throws -> PasskeysReport {
        let user = try await user(person)
        let confirmation = try await confirm(.add, &person)
        let options = try await service.beginAdding(confirmation, user, from: Self.client)
        let response = try passkey.authenticator.register(options.challenge)
        return try await service.finishAdding(response, label: label, user, from: Self.client)
    }

    /// The account of a person's token.
    func user(_ person: Person) async throws -> SignedIn {
        try await service.signedIn(try #require(person.signedIn).token)
    }

    /// Confirms an action with the person's passkey.
    func confirm(_ action: AccountService.Action, _ person: inout Person) async throws -> AuthenticationResponse {
        let user = try await user(person)
        let options = try await service.beginConfirmation(of: action, user, from: Self.client)
        return try person.assert(options)
    }
}

/// Returns the failure that a client receives for an operation; nil if the operation succeeds.
func refusal(_ operation: () async throws -> Void) async -> RouteFailure? {
    do {
        try await operation()
        return nil
    } catch {
        return RouteFailure(answering: error)
    }
}

/// A person with a DID key and an authenticator.
struct Person {
    let handle: Handle
    let didKey: P256PrivateKey
    var authenticator: SoftwareAuthenticator
    var signedIn: SignedInReport?

    init(_ handle: String, authenticator: SoftwareAuthenticator? = nil, didKey: P256PrivateKey? = nil) throws {
        self.handle = try Handle(handle)
        self.didKey = didKey ?? P256PrivateKey()
        var own = try authenticator ?? SoftwareAuthenticator()
        if authenticator == nil {
            var random = SystemRandom()
            own.credentialId = random.bytes(count: 32)
        }
        own.relyingPartyId = "id.example.org"
        own.origin = Scene.origin
        self.authenticator = own
    }

    var did: DIDKey { DIDKey(didKey.publicKey) }

    /// Another passkey of the person, with its own key.
    func anotherPasskey() throws -> Person {
        var other = try Person(handle.text)
        other.authenticator.userHandle = authenticator.userHandle
        return other
    }

    /// The authenticator of an attacker, who knows everything of a passkey but its private key.
    func forger() throws -> SoftwareAuthenticator {
        var forger = try SoftwareAuthenticator()
        forger.credentialId = authenticator.credentialId
        forger.relyingPartyId = authenticator.relyingPartyId
        forger.origin = authenticator.origin
        forger.userHandle = authenticator.userHandle
        return forger
    }

    /// Makes a passkey, and the form with the proof of the DID.
    mutating func answer(_ options: CredentialCreationOptions) throws -> RegisterForm {
        authenticator.userHandle = options.user.id
        return RegisterForm(
            response: try authenticator.register(options.challenge),
            handle: handle,
            did: did,
            didProof: try DIDProof(by: didKey, challenge: options.challenge, rpId: options.rp.id, handle: handle)
        )
    }

    mutating func assert(_ options: CredentialRequestOptions) throws -> AuthenticationResponse {
        try answer(options.challenge)
    }

    /// Signs any challenge, with a counter that increases.
    mutating func answer(_ challenge: [UInt8]) throws -> AuthenticationResponse {
        authenticator.signCount += 1
        return try authenticator.authenticate(challenge)
    }
}
