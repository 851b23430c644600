internal import Bytes
internal import Identity
internal import RegistrationModel
internal import WebAuthn

@testable internal import Registration

/// An identity server with the rules that a client depends on: each challenge once, each handle and DID once.
///
/// It does not verify passkeys: a response has the challenge as its client data and the id of its passkey.
struct SimulatedServer {
    struct Account: Hashable {
        let names: ArkavoCredentials
        let passkey: [UInt8]
    }

    /// A ceremony on a page.
    private struct Ceremony {
        let registrant: Registrant?
        let handle: Handle?
        var result: Result<SignedIn, IdentityServiceError>?
    }

    private(set) var accounts: [Account] = []
    private(set) var sessions: Set<String> = []
    private var challenges: Set<[UInt8]> = []
    private var ceremonies: [String: Ceremony] = [:]
    private var random: SeededGenerator
    private let domain: HandleDomain

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed, name: "server")
        domain = try Scene.domain()
    }

    func account(of did: DIDKey) -> Account? { accounts.first { $0.names.did == did } }

    /// Registers another person, unless the handle is taken.
    mutating func add(_ handle: Handle, _ did: DIDKey) {
        _ = try? add(handle, did, passkey: random.bytes(16))  // taken
    }

    func resolve(_ handle: QualifiedHandle) -> String? {
        accounts.first { $0.names.handle == handle }?.names.did.description
    }

    mutating func creationOptions(_ registrant: Registrant) throws(IdentityServiceError) -> CredentialCreationOptions {
        try check(registrant.handle, registrant.did)
        let user = UserEntity(id: random.bytes(16), name: "\(registrant.handle)", displayName: "\(registrant.handle)")
        return Scene.relyingParty.creationOptions(for: user, challenge: issue())
    }

    mutating func register(
        _ response: RegistrationResponse,
        _ handle: Handle,
        _ did: DIDKey
    ) throws(IdentityServiceError) -> SignedIn {
        guard challenges.remove(response.clientDataJSON) != nil else { throw Self.refused("challenge-used", 403) }
        return try add(handle, did, passkey: response.rawId)
    }

    /// Returns options of the same form for unknown handles, with a passkey that does not exist.
    mutating func requestOptions(_ handle: Handle?) -> CredentialRequestOptions {
        guard let handle else { return Scene.relyingParty.requestOptions(challenge: issue()) }
        let passkey = account(handle)?.passkey ?? random.bytes(16)
        return Scene.relyingParty.requestOptions(
            challenge: issue(),
            allowing: [CredentialDescriptor(id: passkey, transports: [])]
        )
    }

    mutating func authenticate(_ response: AuthenticationResponse) throws(IdentityServiceError) -> SignedIn {
        guard challenges.remove(response.clientDataJSON) != nil else { throw Self.refused("challenge-used", 403) }
        guard let account = accounts.first(where: { $0.passkey == response.rawId }) else {
            throw Self.refused("not-signed-in", 403)
        }
        return signIn(account)
    }

    mutating func revoke(_ token: SecretBytes) { sessions.remove(Self.text(of: token)) }

    static func text(of token: SecretBytes) -> String { token.withBytes { String(decoding: $0, as: UTF8.self) } }

    // MARK: Pages

    mutating func begin(_ registrant: Registrant?, _ handle: Handle?, challenge: [UInt8]?) throws(IdentityServiceError)
        -> CeremonyNotice
    {
        if let challenge, challenges.remove(challenge) == nil { throw Self.refused("challenge-used", 403) }
        let id = Hex.encode(random.bytes(8))
        ceremonies[id] = Ceremony(registrant: registrant, handle: handle)
        return CeremonyNotice(
            id: id,
            secret: SecretBytes(copying: random.bytes(8)),
            number: "123456",
            link: "https://example.test/ceremony/\(id)",
            expires: 1_000
        )
    }

    mutating func poll(_ notice: CeremonyNotice) throws(IdentityServiceError) -> CeremonyProgress {
        guard let ceremony = ceremonies[notice.id] else { throw Self.refused("no-ceremony", 404) }
        guard let result = ceremony.result else { return .waiting }
        ceremonies[notice.id] = nil
        switch result {
        case .success(let signedIn): return .signedIn(signedIn)
        case .failure(let error): return .failed(code: error.refusalCode ?? "refused", message: "\(error)")
        }
    }

    mutating func cancel(_ notice: CeremonyNotice) { ceremonies[notice.id] = nil }

    /// Completes the ceremonies in progress with a new passkey, or with one of the device.
    mutating func completePages(with passkeys: inout [[UInt8]]) {
        for id in ceremonies.keys.sorted() where ceremonies[id]?.result == nil {
            guard let ceremony = ceremonies[id] else { continue }
            do throws(IdentityServiceError) {
                if let registrant = ceremony.registrant {
                    let passkey = random.bytes(16)
                    passkeys.append(passkey)
                    let signedIn = try add(registrant.handle, registrant.did, passkey: passkey)
                    ceremonies[id]?.result = .success(signedIn)
                } else {
                    let own = accounts.filter { passkeys.contains($0.passkey) }
                    let account = ceremony.handle.flatMap(account) ?? own.first
                    guard let account, own.contains(account) else { throw Self.refused("not-signed-in", 403) }
                    let signedIn = signIn(account)
                    ceremonies[id]?.result = .success(signedIn)
                }
            } catch {
                ceremonies[id]?.result = .failure(error)
            }
        }
    }

    // MARK: Storage

    private func account(_ handle: Handle) -> Account? {
        accounts.first { $0.names.handle == handle.qualified(by: domain) }
    }

    private func check(_ handle: Handle, _ did: DIDKey) throws(IdentityServiceError) {
        guard account(handle) == nil else { throw Self.refused("handle-taken", 409) }
        guard account(of: did) == nil else { throw Self.refused("did-taken", 409) }
    }

    private mutating func add(
        _ handle: Handle,
        _ did: DIDKey,
        passkey: [UInt8]
    ) throws(IdentityServiceError) -> SignedIn {
        try check(handle, did)
        let names = ArkavoCredentials(
            handle: handle.qualified(by: domain),
            did: did,
            userId: UserId(using: &random)
        )
        let account = Account(names: names, passkey: passkey)
        accounts.append(account)
        return signIn(account)
    }

    private mutating func signIn(_ account: Account) -> SignedIn {
        let token = "token-" + Hex.encode(random.bytes(16))
        sessions.insert(token)
        return SignedIn(account: account.names, token: SecretBytes(copying: Array(token.utf8)), expires: 1_000)
    }

    private mutating func issue() -> [UInt8] {
        let challenge = random.bytes(32)
        challenges.insert(challenge)
        return challenge
    }

    private static func refused(_ code: String, _ status: Int) -> IdentityServiceError {
        .refused(by: code, message: code, status: status)
    }
}
