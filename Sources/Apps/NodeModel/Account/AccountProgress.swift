internal import CommandModel
internal import Concurrency
internal import Registration

/// The registration that a process performs, of which there is one at a time, and its last problem.
final class AccountProgress: Sendable {
    private struct State: Sendable {
        var isBusy = false
        var problem: RegistrationProblem?
    }

    private let state = Locked(State())
    /// Whether the last request found no server.
    let shared = SharedState()

    var isBusy: Bool { state.withLock(\.isBusy) }

    /// The reason why the last registration stopped.
    var problem: RegistrationProblem? {
        get { state.withLock(\.problem) }
        set { state.withLock { $0.problem = newValue } }
    }

    /// Runs a registration, a sign-in or a removal.
    ///
    /// - Throws: ``CommandFailure`` while another one is in progress; the errors of `body`.
    func run(_ body: () async throws -> Void) async throws {
        try begin()
        defer { state.withLock { $0.isBusy = false } }
        try await body()
    }

    private func begin() throws(CommandFailure) {
        try state.withLock { state throws(CommandFailure) in
            guard !state.isBusy else {
                throw CommandFailure(
                    "account-busy",
                    .tryAgain,
                    "another registration or sign-in is in progress on this device: complete or end that one first"
                )
            }
            state.isBusy = true
            state.problem = nil
        }
    }
}
