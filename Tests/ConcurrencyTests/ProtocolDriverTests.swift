internal import Concurrency
internal import Testing

@Suite("Driver of a protocol value", .timeLimit(.minutes(15))) struct ProtocolDriverTests {
    private enum Input: Equatable {
        case number(Int)
        case timeReached
    }

    private enum Effect {
        case note(Input, Duration)
        case wake(Duration)
        case finish
    }

    private struct Refusal: Error {}

    /// A clock whose sleepers wake when a test sets the time.
    private final class Hands: Sendable {
        private struct State {
            var time = Duration.zero
            var sleeping: [(Duration, Promise<Void>)] = []
        }

        private let state = Locked(State())

        var time: Duration { state.withLock { $0.time } }
        /// The times at which sleepers wake.
        var wakes: [Duration] { state.withLock { $0.sleeping.map(\.0) } }

        func sleep(until time: Duration) async throws {
            let promise = Promise<Void>()
            state.withLock { $0.sleeping.append((time, promise)) }
            try await promise.wait { state.withLock { $0.sleeping.removeAll { $0.1 === promise } } }
        }

        func set(_ time: Duration) {
            let due = state.withLock { state in
                state.time = time
                defer { state.sleeping.removeAll { $0.0 <= time } }
                return state.sleeping.filter { $0.0 <= time }
            }
            for sleeper in due { sleeper.1.fulfil(()) }
        }
    }

    private let hands = Hands()
    private let driver = ProtocolDriver(timeReached: Input.timeReached, limit: 2)

    /// Runs a value that notes each input, wakes at each number in seconds, and ends with the first time.
    private func run(
        _ noted: @escaping @Sendable (Input, Duration) throws -> Void = { _, _ in }
    ) async throws -> Duration {
        let hands = hands
        return try await driver.run(now: { hands.time }, sleep: { try await hands.sleep(until: $0) }) {
            input,
            now,
            effects in
            effects.append(.note(input, now))
            switch input {
            case .number(let seconds): effects.append(.wake(.seconds(seconds)))
            case .timeReached: effects.append(.finish)
            }
        } perform: { (effect: Effect) -> ProtocolStep<Duration> in
            switch effect {
            case .note(let input, let now):
                try noted(input, now)
                return .next
            case .wake(let time): return .wake(at: time)
            case .finish: return .end(hands.time)
            }
        }
    }

    @Test func `a later wake replaces an earlier one`() async throws {
        let noted = Locked<[Input]>([])
        let running = Task { try await run { input, _ in noted.withLock { $0.append(input) } } }
        driver.offer(.number(5))
        while hands.wakes != [.seconds(5)] { await Task.yield() }
        driver.offer(.number(9))
        while hands.wakes != [.seconds(9)] { await Task.yield() }
        hands.set(.seconds(9))
        #expect(try await running.value == .seconds(9))
        #expect(noted.withLock { $0 } == [.number(5), .number(9), .timeReached])
        #expect(hands.wakes.isEmpty)
    }

    @Test func `inputs without room are dropped, and the time waits for room`() async throws {
        #expect(driver.offer(.number(1)) && driver.offer(.number(2)))
        #expect(!driver.offer(.number(3)))
        let noted = Locked<[Input]>([])
        let running = Task { try await run { input, _ in noted.withLock { $0.append(input) } } }
        while hands.wakes != [.seconds(2)] { await Task.yield() }
        hands.set(.seconds(2))
        _ = try await running.value
        #expect(noted.withLock { $0 } == [.number(1), .number(2), .timeReached])
    }

    @Test func `an effect that fails ends the run and its timer`() async throws {
        driver.offer(.number(4))
        await #expect(throws: Refusal.self) {
            try await run { input, _ in
                if input == .number(7) { throw Refusal() }
                driver.offer(.number(7))
            }
        }
        while !hands.wakes.isEmpty { await Task.yield() }
    }

    @Test func `a cancelled run ends with its timer`() async throws {
        let running = Task { try await run() }
        driver.offer(.number(4))
        while hands.wakes.isEmpty { await Task.yield() }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        while !hands.wakes.isEmpty { await Task.yield() }
    }
}
