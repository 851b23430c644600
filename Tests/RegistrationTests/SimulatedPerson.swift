internal import Bytes
internal import Identity
internal import Platform
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import Registration

/// A person with a device, a process that can end at any time, and a server behind a bad network.
///
/// It does not model two devices of one person, nor the expiry of challenges and tokens.
struct SimulatedPerson {
    typealias Flow = RegistrationFlow

    /// An action in progress, or one that reaches the server after the client stopped waiting.
    private struct Request {
        let action: Flow.Action
        let attempt: UInt64
        let process: Int
    }

    private(set) var flow: Flow
    private(set) var server: SimulatedServer
    let did: DIDKey
    private let plan: RegistrationPlan
    private var random: SeededGenerator
    private var inProgress: Request?
    private var delayed: [Request] = []
    private var process = 0
    private var passkeys: [[UInt8]] = []
    private(set) var token: String?
    private(set) var profile: ProfileNames?
    private var disk: [UInt8]?
    private(set) var isOffline = false
    private var failures = 0
    /// Whether anything fails.
    var isCalm = false

    static let handles = ["alice", "alice2", "alice3", "bob"]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed, name: "person")
        plan = try Scene.plan(.registration, seed % 2 == 0 ? .device : .page)
        did = try Scene.did()
        server = try SimulatedServer(seed: seed)
        flow = Flow(plan: plan, localName: LocalName.make(using: &random))
    }

    // MARK: Chance

    /// Does one thing: an answer, a choice of the person, a restart, or a late request.
    mutating func step() throws {
        switch random.next() % 20 {
        case 0...9: try answer()
        case 10...13: try choose(randomChoice())
        case 14: try restart()
        case 15 where !delayed.isEmpty: try deliver()
        case 16: server.completePages(with: &passkeys)
        case 17 where random.decide(0.2):
            server.add(try Handle(Self.handles[Int(random.next() % 4)]), try Scene.did(2 + UInt8(random.next() % 3)))
        default: try answer()
        }
        try check()
    }

    /// Chooses what a person would, and answers until the flow waits again.
    mutating func settle() throws {
        while !delayed.isEmpty { try deliver() }
        try choose(sensibleChoice())
        for _ in 0..<20 where inProgress != nil {
            server.completePages(with: &passkeys)
            try answer()
        }
        try check()
    }

    private func check() throws {
        #expect(server.accounts.count { $0.names.did == did } <= 1, "a second account")
        guard let disk else { return }
        let text = String(decoding: disk, as: UTF8.self)
        #expect(!text.contains("token-"), "a token in \(text)")
        _ = try RegistrationSnapshot(encoded: disk)
    }

    private mutating func randomChoice() -> Flow.Choice {
        let handle = Self.handles[Int(random.next() % 4)]
        return switch random.next() % 8 {
        case 0, 1: .reconnect
        case 2: .cancel
        case 3: .changeHandle
        case 4: .signIn(handle: random.decide(0.5) ? nil : handle)
        case 5: .typedHandle(handle)
        case 6: .agreement(version: Scene.agreement.version, isChecked: random.decide(0.8))
        default: .submittedHandle(handle, displayName: random.decide(0.3) ? "Alice Liddell" : nil)
        }
    }

    private mutating func sensibleChoice() -> Flow.Choice {
        switch (flow.state, flow.problem) {
        case (.agreement, _): return .agreement(version: Scene.agreement.version, isChecked: true)
        case (.handle, _):
            failures += 1
            return .submittedHandle("person-\(failures)", displayName: nil)
        case (_, .didTaken): return .signIn(handle: nil)
        case (.signIn(.account, _), .some): return .changeHandle
        default: return .reconnect
        }
    }

    // MARK: The device

    private mutating func choose(_ choice: Flow.Choice) throws { try apply(.person(choice)) }

    private mutating func apply(_ input: Flow.Input) throws {
        for effect in flow.handle(input, at: 1) {
            switch effect {
            case .save:
                guard isCalm || !random.decide(0.03) else { return try apply(.saveFailed(reason: "disk full")) }
                disk = try flow.snapshot.encoded()
            case .check(let handle):
                let isTaken = server.resolve(handle) != nil
                try apply(.checked(handle, random.decide(0.5) ? .unknown(reason: "") : isTaken ? .taken : .available))
            case .perform(let action, let attempt):
                abandonRequest()
                inProgress = Request(action: action, attempt: attempt, process: process)
            case .abandon(let notice):
                if let notice, isCalm || random.decide(0.7) { server.cancel(notice) }
                abandonRequest()
            case .revoke(let token): server.revoke(token)
            case .setOffline(let isOffline): self.isOffline = isOffline
            case .makeLocalProfile: break
            }
        }
    }

    /// A request that is no longer waited for may still reach the server.
    private mutating func abandonRequest() {
        if let request = inProgress, random.decide(0.5) { delayed.append(request) }
        inProgress = nil
    }

    private mutating func restart() throws {
        abandonRequest()
        isOffline = false
        process += 1
        guard let disk else {
            flow = Flow(plan: plan, localName: LocalName.make(using: &random))
            return
        }
        flow = Flow(plan: plan, snapshot: try RegistrationSnapshot(encoded: disk))
    }

    /// Delivers a late request, and its answer if the process still runs.
    private mutating func deliver() throws {
        let request = delayed.removeFirst()
        guard request.action.isRequest else { return }
        let outcome = respond(to: request, false)
        guard request.process == process, random.decide(0.5) else { return }
        try apply(.outcome(outcome, attempt: request.attempt))
    }

    // MARK: The network

    private mutating func answer() throws {
        guard let request = inProgress else { return }
        let isBad = !isCalm && random.decide(0.35)
        let outcome = request.action.isRequest ? respond(to: request, isBad) : act(on: request.action, isBad)
        // A late answer has its old number.
        if inProgress?.attempt == request.attempt { inProgress = nil }
        try apply(.outcome(outcome, attempt: request.attempt))
    }

    private mutating func respond(to request: Request, _ isBad: Bool) -> Flow.Outcome {
        let fate = isBad ? random.next() % 5 : 5
        switch fate {
        case 0: return .failed(.service(.unreachable(reason: "reset")))
        case 1:
            delayed.append(request)
            return .failed(.service(.timedOut))
        case 2: return .failed(Scene.refused("unavailable", 503))
        default:
            let outcome: Flow.Outcome
            do { outcome = try serve(request.action) } catch { outcome = .failed(.service(error)) }
            return fate == 5 ? outcome : .failed(.service(.timedOut))
        }
    }

    private mutating func serve(_ action: Flow.Action) throws(IdentityServiceError) -> Flow.Outcome {
        switch action {
        case .fetchCreationOptions(let registrant): return .creationOptions(try server.creationOptions(registrant))
        case .register(let response, let registrant, _):
            return .signedIn(try server.register(response, registrant.handle, registrant.did))
        case .beginRegistration(let registrant, let options):
            return .ceremonyBegan(
                try server.begin(registrant, registrant.handle, challenge: options.challenge)
            )
        case .beginSignIn(let handle): return .ceremonyBegan(try server.begin(nil, handle, challenge: nil))
        case .poll(let notice): return .ceremonyProgressed(try server.poll(notice))
        case .resolve(let handle): return .resolved(server.resolve(handle))
        case .fetchRequestOptions(let handle): return .requestOptions(server.requestOptions(handle))
        case .authenticate(let response): return .signedIn(try server.authenticate(response))
        case .provideDIDKey, .createPasskey, .getAssertion, .store, .setProfile:
            preconditionFailure("\(action) is no request")
        }
    }

    private mutating func act(on action: Flow.Action, _ isBad: Bool) -> Flow.Outcome {
        switch action {
        case .provideDIDKey: return isBad ? .failed(.keychain(.denied)) : .didKey(did)
        case .createPasskey(let options):
            if isBad { return .failed(.passkey(.cancelled)) }
            passkeys.append(random.bytes(16))
            return .passkeyCreated(
                RegistrationResponse(
                    rawId: passkeys[passkeys.count - 1],
                    clientDataJSON: options.challenge,
                    attestationObject: [],
                    transports: [],
                    isDiscoverable: true
                )
            )
        case .getAssertion(let options):
            let known = server.accounts.map(\.passkey)
            let allowed = options.allowCredentials.map(\.id)
            let passkey = passkeys.first { allowed.isEmpty ? known.contains($0) : allowed.contains($0) }
            guard let passkey, !isBad else { return .failed(.passkey(.cancelled)) }
            return .assertion(
                AuthenticationResponse(
                    rawId: passkey,
                    clientDataJSON: options.challenge,
                    authenticatorData: [],
                    signature: [],
                    userHandle: nil
                )
            )
        case .store(let signedIn):
            if isBad { return .failed(.keychain(.denied)) }
            token = SimulatedServer.text(of: signedIn.token)
            return .tokenStored
        case .setProfile(let names):
            if isBad { return .failed(.profile(reason: "disk full")) }
            profile = names
            return .profileStored
        case .fetchCreationOptions, .register, .beginRegistration, .beginSignIn, .poll, .resolve,
            .fetchRequestOptions, .authenticate:
            preconditionFailure("\(action) is a request")
        }
    }
}

extension RegistrationFlow.Action {
    /// Whether it goes to the server.
    var isRequest: Bool {
        switch self {
        case .provideDIDKey, .createPasskey, .getAssertion, .store, .setProfile: false
        case .fetchCreationOptions, .register, .beginRegistration, .beginSignIn, .poll, .resolve,
            .fetchRequestOptions, .authenticate:
            true
        }
    }
}
