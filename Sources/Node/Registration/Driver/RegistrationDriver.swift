internal import Bytes
internal import Concurrency
internal import Identity
internal import RegistrationModel

/// Performs the effects of a ``RegistrationFlow``: requests, passkeys, keys, the profile and the stored registration.
///
/// Each call of ``handle(_:)`` returns when the flow waits for the person again. A call may overlap with an earlier one, for
/// example to cancel it.
package final class RegistrationDriver: Sendable {
    /// The parts that perform effects.
    package struct Parts: Sendable {
        let service: any IdentityService
        let authenticator: any PasskeyAuthenticator
        let keychain: KeychainManager
        let persistence: PersistenceController
        let snapshots: any SnapshotStore
        let shared: SharedState

        package init(
            service: any IdentityService,
            authenticator: any PasskeyAuthenticator,
            keychain: KeychainManager,
            persistence: PersistenceController,
            snapshots: any SnapshotStore,
            shared: SharedState
        ) {
            self.service = service
            self.authenticator = authenticator
            self.keychain = keychain
            self.persistence = persistence
            self.snapshots = snapshots
            self.shared = shared
        }
    }

    private let machine: Locked<RegistrationFlow>
    let parts: Parts
    private let saving = AsyncMutex()
    let now: @Sendable () -> UInt64
    private let observe: @Sendable (RegistrationFlow) -> Void

    /// Continues the stored registration, or begins one with `localName`.
    ///
    /// A damaged one is replaced: the key of the DID shows the account that was registered with it. `now` returns seconds since
    /// 1970, and `observe` receives the flow after each input.
    ///
    /// - Throws: ``RegistrationSnapshotError/newerVersion(found:)``; the errors of the store.
    package init(
        _ plan: RegistrationPlan,
        localName: String,
        parts: Parts,
        now: @escaping @Sendable () -> UInt64,
        observe: @escaping @Sendable (RegistrationFlow) -> Void = { _ in }
    ) throws {
        var flow = try Self.flow(plan, localName, stored: parts.snapshots.load())
        flow.isOffline = parts.shared.isOfflineMode
        machine = Locked(flow)
        self.parts = parts
        self.now = now
        self.observe = observe
    }

    private static func flow(
        _ plan: RegistrationPlan,
        _ localName: String,
        stored: [UInt8]?
    ) throws(RegistrationSnapshotError) -> RegistrationFlow {
        guard let stored else { return RegistrationFlow(plan: plan, localName: localName) }
        do {
            return RegistrationFlow(plan: plan, snapshot: try RegistrationSnapshot(encoded: stored))
        } catch .malformed, .tooLarge {
            return RegistrationFlow(plan: plan, localName: localName)
        }
    }

    /// The flow as it is now.
    package var flow: RegistrationFlow { machine.withLock { $0 } }

    /// Applies a choice of the person, and performs all that follows from it.
    package func handle(_ choice: RegistrationFlow.Choice) async {
        var inputs: [RegistrationFlow.Input] = [.person(choice)]
        while !inputs.isEmpty {
            let input = inputs.removeFirst()
            let (effects, flow) = machine.withLock { flow in (flow.handle(input, at: now()), flow) }
            observe(flow)
            inputs += await perform(effects)
        }
    }

    private func perform(_ effects: [RegistrationFlow.Effect]) async -> [RegistrationFlow.Input] {
        var inputs: [RegistrationFlow.Input] = []
        for effect in effects {
            switch effect {
            case .save:
                do { try await save() } catch { return inputs + [.saveFailed(reason: "\(error)")] }
            case .check(let handle):
                inputs.append(.checked(handle, await parts.service.availability(of: handle)))
            case .perform(let action, let attempt):
                inputs.append(.outcome(await parts.outcome(of: action), attempt: attempt))
            case .abandon(let ceremony):
                parts.authenticator.cancel()
                if let ceremony { try? await parts.service.cancel(ceremony) }  // it expires by itself
            case .revoke(let token):
                try? await parts.service.revoke(token, everywhere: false)  // it expires by itself
            case .setOffline(let isOffline):
                parts.shared.isOfflineMode = isOffline
            case .makeLocalProfile(let name):
                try? await parts.persistence.makeLocalProfile(name: name)  // the next loss of the server tries again
            }
        }
        return inputs
    }

    /// Stores the newest snapshot, so that calls that overlap never leave an older one.
    private func save() async throws {
        try await saving.withLock { try parts.snapshots.save(flow.snapshot.encoded()) }
    }
}
