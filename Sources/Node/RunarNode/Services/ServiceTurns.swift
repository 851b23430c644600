internal import Concurrency

/// Lets those who start, stop, pause or resume a service do so one after another, on whichever node it is.
///
/// A change that the service itself makes in its `start` or `stop` belongs to the turn under way. A turn runs to
/// completion also when its caller is cancelled: no service is left half started.
final class ServiceTurns: Sendable {
    private final class Turn: Sendable {
        let turns: ServiceTurns
        let isOver = Locked(false)

        init(of turns: ServiceTurns) { self.turns = turns }
    }

    /// The turns within which a task runs; one that outlives its turn is in none.
    @TaskLocal private static var held: [Turn] = []

    private let line = AsyncMutex()

    /// - Throws: what `body` throws.
    func inTurn<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        let held = Self.held.filter { !$0.isOver.withLock(\.self) }
        if held.contains(where: { $0.turns === self }) { return try await body() }
        return try await Task {
            try await self.line.withLock {
                let turn = Turn(of: self)
                defer { turn.isOver.withLock { $0 = true } }
                return try await Self.$held.withValue(held + [turn], operation: body)
            }
        }.value
    }
}
