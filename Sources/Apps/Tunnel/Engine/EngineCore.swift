internal import Concurrency
internal import Platform
internal import WireGuard

/// The WireGuard value of an engine behind its lock, with the randomness and the clocks that it needs.
///
/// Packets are sealed and opened outside the lock. The thread that waits for timers records its wake-up time; a thread
/// that moves the next deadline before that wakes it.
final class EngineCore: Sendable {
    private struct Guarded: Sendable {
        var interface: WireGuardInterface
        var random = SystemRandom()
        /// The deadline for which the timer thread waits; nil while it waits for none.
        var awaited: Duration?
    }

    private let guarded: Locked<Guarded>
    private let now: @Sendable () -> Moment
    let waker: EngineWaker
    let stop: EngineStop

    /// Creates a value without key and peers; nil if the process has no descriptors left.
    init?(now: @escaping @Sendable () -> Moment = EngineCore.systemClock()) {
        guard let waker = EngineWaker(), let stop = EngineStop() else { return nil }
        guarded = Locked(Guarded(interface: WireGuardInterface(WireGuardInterface.Configuration())))
        self.now = now
        self.waker = waker
        self.stop = stop
    }

    /// The clocks of this machine: the monotonic one counts the time asleep.
    static func systemClock() -> @Sendable () -> Moment {
        let clocks = Clocks.system()
        return { Moment(monotonic: clocks.monotonic(), wall: .milliseconds(SystemProcess.wallMilliseconds)) }
    }

    /// Runs `body` on the value under the lock.
    func withInterface<Outcome: Sendable>(
        _ body: (inout WireGuardInterface, inout SystemRandom, Moment) -> Outcome
    ) -> Outcome {
        let moment = now()
        let (outcome, isEarlier) = guarded.withLock { guarded in
            let outcome = body(&guarded.interface, &guarded.random, moment)
            let next = guarded.interface.nextDeadline
            let isEarlier = next.map { next in guarded.awaited.map { next < $0 } ?? true } ?? false
            if isEarlier { guarded.awaited = next }
            return (outcome, isEarlier)
        }
        if isEarlier { waker.raise() }
        return outcome
    }

    /// The time until the next deadline, for which the calling thread is going to wait; nil without one.
    func beginWaiting() -> Duration? {
        let moment = now()
        return guarded.withLock { guarded in
            guarded.awaited = guarded.interface.nextDeadline
            return guarded.awaited.map { $0 - moment.monotonic }
        }
    }

    /// Runs the timers that are due.
    func runTimers(effects: inout [WireGuardInterface.Effect]) {
        let moment = now()
        guarded.withLock { guarded in
            guard let deadline = guarded.interface.nextDeadline, deadline <= moment.monotonic else { return }
            effects += guarded.interface.handle(.timeReached, at: moment, using: &guarded.random)
        }
    }
}
