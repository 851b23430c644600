internal import Concurrency
internal import Foundation
internal import TestSupport

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The messages and events that a node reports to a listener, each with the time of its report.
final class Watch: Sendable {
    struct Entry: Sendable {
        let time: ContinuousClock.Instant
        let update: NodeUpdate
    }

    private let entries = Locked<[Entry]>([])
    private let condition = NSCondition()
    private let listening = Locked<Task<Void, Never>?>(nil)

    /// Listens to the node of a home; returns once no update can be missed.
    init(home: String) async throws {
        let client = NodeClient(home: home)
        guard let client else { throw Outcome.Unexpected(description: "no node runs in \(home)") }
        let task = Task { [weak self] in
            do {
                _ = try await client.perform(Operations.listen(.init(events: true))) { [weak self] update in
                    self?.note(update)
                    guard case .message(_, let delivery) = update else { return }
                    _ = try await client.perform(Operations.confirmDelivery(RequestNumber(delivery)))
                }
            } catch {
                // The node ended, or the test did; a task that waits for an entry fails by itself.
            }
        }
        listening.withLock { $0 = task }
        let isThere = try await first(within: .seconds(30)) { if case .listening = $0 { true } else { false } }
        guard isThere != nil else { throw Outcome.Unexpected(description: "the node in \(home) lets nobody listen") }
    }

    deinit {
        listening.withLock { $0?.cancel() }
    }

    private func note(_ update: NodeUpdate) {
        condition.lock()
        entries.withLock { $0.append(Entry(time: .now, update: update)) }
        condition.broadcast()
        condition.unlock()
    }

    /// Waits for the first update since `moment` that is wanted; nil if there is none in time.
    func first(
        since moment: ContinuousClock.Instant? = nil,
        within patience: Duration,
        where isWanted: @escaping @Sendable (NodeUpdate) -> Bool
    ) async throws -> Entry? {
        let limit = Date.now.addingTimeInterval(patience / .seconds(1))
        return try await aside { [condition, entries] in
            condition.lock()
            defer { condition.unlock() }
            while true {
                let found = entries.withLock { all in
                    all.first { entry in moment.map { entry.time >= $0 } ?? true && isWanted(entry.update) }
                }
                if let found { return found }
                guard condition.wait(until: limit) else { return nil }
            }
        }
    }

    /// Waits until packets to or from a peer travel so.
    func path(
        to peerId: String,
        isRelayed: Bool,
        since moment: ContinuousClock.Instant,
        within patience: Duration
    ) async throws -> ContinuousClock.Instant? {
        try await first(since: moment, within: patience) { update in
            guard case .event(let event) = update, event.event == "pathChanged" else { return false }
            return event.peerId == peerId && event.relayed == isRelayed
        }?.time
    }

    /// Waits for an event about a peer.
    func event(
        _ name: String,
        of peerId: String,
        since moment: ContinuousClock.Instant,
        within patience: Duration
    ) async throws -> ContinuousClock.Instant? {
        try await first(since: moment, within: patience) { update in
            if case .event(let event) = update { event.event == name && event.peerId == peerId } else { false }
        }?.time
    }

    /// Returns the texts with this beginning, each with its time of arrival.
    func messages(beginning prefix: String) -> [(time: ContinuousClock.Instant, text: String)] {
        entries.withLock { $0 }.compactMap { entry in
            guard case .message(let message, _) = entry.update, let text = message.text, text.hasPrefix(prefix) else {
                return nil
            }
            return (entry.time, text)
        }
    }
}
