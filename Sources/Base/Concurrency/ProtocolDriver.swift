/// The result of an effect that a ``ProtocolDriver`` passed on.
package enum ProtocolStep<Outcome: Sendable>: Sendable {
    case next
    /// The input of the time is due at this monotonic time, instead of at an earlier wake.
    case wake(at: Duration)
    /// The protocol has ended.
    case end(Outcome)
}

/// Runs one protocol value outside a node: inputs in the order of their arrival, effects in order, and one timer.
///
/// The queue is bounded, so that a peer cannot fill the memory: an input that finds no room is dropped, as a datagram would
/// be. The input of the time waits for room instead.
package final class ProtocolDriver<Input: Sendable>: Sendable {
    private let inputs: BoundedChannel<Input>
    private let timeReached: Input

    /// Creates a driver whose queue holds at most `limit` inputs; `timeReached` is the input of a wake.
    package init(timeReached: Input, limit: Int = 256) {
        self.timeReached = timeReached
        inputs = BoundedChannel(limit: limit)
    }

    /// Whether it has handled all inputs, and waits for the next one.
    package var isWaiting: Bool { inputs.readerCount > 0 }

    /// Queues an input.
    ///
    /// - Returns: false when there is no room.
    @discardableResult package func offer(_ input: Input) -> Bool { inputs.offer(input) }

    /// Runs until an effect ends the protocol.
    ///
    /// `now` and `sleep` are one monotonic clock: `sleep` returns at a time of `now`. `handle` is the value's own method.
    ///
    /// - Throws: the errors of `perform`; `CancellationError` when the task is cancelled.
    package func run<Effect, Outcome: Sendable>(
        now: () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        handle: (Input, Duration, inout [Effect]) -> Void,
        perform: (Effect) throws -> ProtocolStep<Outcome>
    ) async throws -> Outcome {
        // Unstructured: the next wake replaces it.
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        while let input = try await inputs.next() {
            var effects: [Effect] = []
            handle(input, now(), &effects)
            for effect in effects {
                switch try perform(effect) {
                case .next: break
                case .wake(let time):
                    timer?.cancel()
                    timer = Task { [inputs, timeReached] in
                        try await sleep(time)
                        _ = try await inputs.send(timeReached)
                    }
                case .end(let outcome): return outcome
                }
            }
        }
        throw CancellationError()
    }
}
