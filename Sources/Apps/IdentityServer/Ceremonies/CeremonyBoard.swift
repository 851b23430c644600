internal import Concurrency
internal import Identity
internal import Platform

/// The ceremonies of commands in progress, and the requests that wait for their end.
final class CeremonyBoard: Sendable {
    /// The time after which a waiting request gets the state `waiting`.
    static let patience = Duration.seconds(25)
    /// The most requests that wait for one ceremony.
    private static let waiterLimit = 4

    private struct State {
        var ceremonies = CommandCeremonies()
        var waiters: [String: [Promise<Void>]] = [:]
        /// Whether the server stops, so that no request waits.
        var isStopping = false
    }

    private let state = Locked(State())
    private let clocks: Clocks
    private let patience: Duration

    init(_ clocks: Clocks, patience: Duration = CeremonyBoard.patience) {
        self.clocks = clocks
        self.patience = patience
    }

    /// The numbers of waiting requests by the ids of their ceremonies.
    var waiterCounts: [String: Int] { state.withLock { $0.waiters.mapValues(\.count) } }

    /// Answers the requests that wait, and those that follow at once, because the server stops.
    func stopWaiting() {
        let waiters = state.withLock { state in
            state.isStopping = true
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap { $0 }
        }
        for waiter in waiters { waiter.fulfil(()) }
    }

    /// Begins a ceremony.
    ///
    /// - Throws: ``IdentityServerError/tooManyCeremonies``.
    func begin(
        _ purpose: CommandCeremony.Purpose,
        from address: IPAddress?
    ) throws(IdentityServerError) -> (ceremony: CommandCeremony, secret: String) {
        let now = clocks.monotonic()
        let begun = state.withLock { state in
            var random = SystemRandom()
            return state.ceremonies.begin(purpose, from: address, at: now, using: &random)
        }
        guard let begun else { throw .tooManyCeremonies }
        return begun
    }

    /// Returns a waiting ceremony for its page.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func waiting(_ id: String) throws(IdentityServerError) -> CommandCeremony {
        let now = clocks.monotonic()
        guard let ceremony = state.withLock({ $0.ceremonies.waiting(id, at: now) }) else { throw .noSuchCeremony }
        return ceremony
    }

    /// Ends a waiting ceremony, and answers the requests that wait for it.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func end(_ id: String, as end: CommandCeremony.State) throws(IdentityServerError) {
        let now = clocks.monotonic()
        let waiters = state.withLock { state -> [Promise<Void>]? in
            guard state.ceremonies.end(id, as: end, at: now) else { return nil }
            return state.waiters.removeValue(forKey: id) ?? []
        }
        guard let waiters else { throw .noSuchCeremony }
        for waiter in waiters { waiter.fulfil(()) }
    }

    /// Returns the state for the program with the secret, after the end of the ceremony or ``patience``.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func result(of id: String, secret: String) async throws(IdentityServerError) -> CommandCeremony.State {
        let patience = patience
        let first = try poll(id, secret, waits: true)
        guard let waiter = first.waiter else { return first.state }
        await withTaskGroup { group in
            group.addTask { try? await waiter.wait() }  // cancelled after the patience
            group.addTask { try? await Task.sleep(for: patience) }  // cancelled at the end
            await group.next()
            group.cancelAll()
        }
        state.withLock { state in
            state.waiters[id]?.removeAll { $0 === waiter }
            // An expired ceremony leaves nothing behind.
            if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
        }
        // An end is returned once: a client that has disconnected must not take it.
        guard !Task.isCancelled else { return .waiting }
        return try poll(id, secret, waits: false).state
    }

    /// Removes a ceremony for the program with the secret.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func cancel(_ id: String, secret: String) throws(IdentityServerError) {
        let now = clocks.monotonic()
        let waiters = state.withLock { state -> [Promise<Void>]? in
            guard state.ceremonies.cancel(id, secret: secret, at: now) else { return nil }
            return state.waiters.removeValue(forKey: id) ?? []
        }
        guard let waiters else { throw .noSuchCeremony }
        for waiter in waiters { waiter.fulfil(()) }
    }

    private func poll(
        _ id: String,
        _ secret: String,
        waits: Bool
    ) throws(IdentityServerError) -> (state: CommandCeremony.State, waiter: Promise<Void>?) {
        let now = clocks.monotonic()
        let found = state.withLock { state -> (CommandCeremony.State, Promise<Void>?)? in
            guard let found = state.ceremonies.poll(id, secret: secret, at: now) else { return nil }
            guard waits, !state.isStopping, case .waiting = found,
                state.waiters[id, default: []].count < Self.waiterLimit
            else { return (found, nil) }
            let waiter = Promise<Void>()
            state.waiters[id, default: []].append(waiter)
            return (found, waiter)
        }
        guard let found else { throw .noSuchCeremony }
        return found
    }
}
