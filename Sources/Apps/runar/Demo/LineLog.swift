internal import CommandModel
internal import Concurrency
internal import Foundation
internal import NodeModel
internal import NodeService

/// The output of a process so far, line by line, for tasks that wait for a certain line.
final class LineLog: Sendable {
    private struct State: Sendable {
        var lines: [String] = []
        var isOver = false
    }

    /// The longest wait for a line, enough for a busy machine.
    private static let patience = Duration.seconds(60)

    private let name: String
    private let state = Locked(State())
    private let changes = ConditionVariable()

    init(of name: String) {
        self.name = name
    }

    /// The number of lines so far; later lines follow this position.
    var position: Int { state.withLock { $0.lines.count } }

    /// Whether one of these events was logged so far.
    func contains(_ events: Set<String>) -> Bool {
        state.withLock { $0.lines }.contains { EventLine($0)?.event.map { events.contains($0) } ?? false }
    }

    /// Appends all lines until the end.
    func collect(_ lines: AsyncStream<String>) async {
        for await line in lines { change { $0.lines.append(line) } }
        change { $0.isOver = true }
    }

    /// Waits until the output of the process has ended.
    func waitForEnd() async {
        let state = self.state
        try? await changes.wait { state.withLock { $0.isOver } ? () : nil }  // a cancelled task waits no longer
    }

    /// Returns the first result of `match` for the lines from `position` on.
    ///
    /// - Throws: ``CommandFailure`` when the process ends or the time limit passes before.
    func first<Found: Sendable>(
        _ what: String,
        after position: Int = 0,
        _ match: @escaping @Sendable (EventLine) -> Found?
    ) async throws -> Found {
        try await withThrowingTaskGroup(of: Found?.self) { group in
            group.addTask { try await self.search(what, from: position, match) }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let found = try await group.next() ?? nil else {
                let patience = "\(Self.patience.seconds) s"
                throw CommandFailure("not-seen", .software, "\(name) did not report within \(patience): \(what)")
            }
            return found
        }
    }

    private func search<Found>(
        _ what: String,
        from position: Int,
        _ match: (EventLine) -> Found?
    ) async throws -> Found {
        var position = position
        return try await changes.wait {
            let (fresh, isOver) = state.withLock { ($0.lines.dropFirst(position), $0.isOver) }
            for line in fresh {
                position += 1
                if let found = EventLine(line).flatMap(match) { return found }
            }
            if isOver { throw CommandFailure("not-seen", .software, "\(name) ended before it reported: \(what)") }
            return nil
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changes.broadcast()
    }
}

/// A line of `--json` output, as far as the demo looks at it.
struct EventLine: Decodable, Sendable {
    /// The kind of line; nil for the states of a connection to an exit.
    let event: String?
    let peerId: String?
    let reason: String?
    let text: String?
    let topic: String?
    let path: String?
    let addresses: [String]?
    /// Whether a peer's packets are passed on by another member.
    let relayed: Bool?
    let link: String?
    let digits: String?
    /// The key of a gateway for the roster.
    let key: String?
    /// The state of a connection to an exit.
    let state: String?
    /// The number of tokens in a wallet.
    let tokens: Int?

    init?(_ line: String) {
        // A line that is no object is no event.
        guard let event = try? JSONText.decode(EventLine.self, from: Array(line.utf8)) else { return nil }  // see above
        self = event
    }
}
