internal import Concurrency
internal import HeapModule

/// The scheduled actions with their moments, run by one task that exists only while any is left.
final class Agenda: Sendable {
    /// An appointment that can be called off.
    struct Entry: Comparable, Hashable {
        let moment: Duration
        let number: UInt64

        static func < (first: Entry, second: Entry) -> Bool {
            (first.moment, first.number) < (second.moment, second.number)
        }
    }

    private struct State {
        var heap: Heap<Entry> = []
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
        /// The task that sleeps, until when, and its number; an older task finds another number and leaves.
        var runner: Task<Void, Never>?
        var runnerMoment = Duration.zero
        var runnerNumber: UInt64 = 0

        /// The next entry that was not called off.
        mutating func nextEntry() -> Entry? {
            while let entry = heap.min {
                if actions[entry.number] != nil { return entry }
                heap.removeMin()
            }
            return nil
        }
    }

    private enum Step {
        case act([@Sendable () -> Void])
        case sleep(until: Duration)
        case leave
    }

    let timebase: Timebase
    private let state = Locked(State())

    init(timebase: Timebase) {
        self.timebase = timebase
    }

    deinit {
        state.withLock { $0.runner }?.cancel()
    }

    /// Arranges for `action` at `moment`; actions of one moment keep their order.
    @discardableResult
    func schedule(at moment: Duration, _ action: @escaping @Sendable () -> Void) -> Entry {
        state.withLock { state in
            state.lastNumber += 1
            let entry = Entry(moment: moment, number: state.lastNumber)
            state.heap.insert(entry)
            state.actions[entry.number] = action
            guard state.runner == nil || moment < state.runnerMoment else { return entry }
            state.runner?.cancel()
            state.runnerNumber += 1
            state.runnerMoment = moment
            let number = state.runnerNumber
            state.runner = Task { [weak self, timebase] in
                while let step = self?.step(as: number) {
                    switch step {
                    case .act(let actions):
                        for action in actions {
                            action()
                        }
                    case .sleep(let moment):
                        do { try await timebase.sleep(until: moment) } catch { return }
                    case .leave: return
                    }
                }
            }
            return entry
        }
    }

    /// Calls an appointment off; one that has passed is ignored.
    func cancel(_ entry: Entry) {
        // The action may own the last reference to an object whose deinit calls this method: release it outside of the lock.
        let (action, runner) = state.withLock { state in
            let action = state.actions.removeValue(forKey: entry.number)
            guard action != nil, state.actions.isEmpty else { return (action, nil as Task<Void, Never>?) }
            defer { state.runner = nil }
            state.heap = []
            state.runnerNumber += 1
            return (action, state.runner)
        }
        runner?.cancel()
        _ = action
    }

    /// Returns the next step of the task number `runnerNumber`.
    private func step(as runnerNumber: UInt64) -> Step {
        let now = timebase.now
        return state.withLock { state in
            guard state.runnerNumber == runnerNumber else { return .leave }
            var due: [@Sendable () -> Void] = []
            while let entry = state.nextEntry(), entry.moment <= now {
                state.heap.removeMin()
                if let action = state.actions.removeValue(forKey: entry.number) { due.append(action) }
            }
            if !due.isEmpty {
                // While it performs these actions, newly scheduled ones belong to this task's next step.
                state.runnerMoment = .zero
                return .act(due)
            }
            guard let entry = state.nextEntry() else {
                state.runner = nil
                return .leave
            }
            state.runnerMoment = entry.moment
            return .sleep(until: entry.moment)
        }
    }
}
