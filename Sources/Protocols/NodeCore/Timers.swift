internal import Identity

/// The times at which the node has something to do, and the earliest wake that was requested from the driver.
///
/// Timers are data: a wake is an effect. Connections and peers have their times in ``Deadlines``; a time that a node has
/// once is a property here, or of the protocol that wants it. So neither a timer nor an input walks through all
/// connections or peers.
struct Timers: Sendable {
    private var deadlines = Deadlines()
    /// The next check of the wall clock.
    private var clockWake: Duration?
    /// The next check for surplus connections.
    private var surplusWake: Duration?
    /// The next note of the peers that are connected.
    private var seenWake: Duration?
    /// The earliest wake that was requested from the driver.
    private var armed: Duration?
    /// The longest interval of the checks of the wall clock, which may be set.
    private let longestClockSleep: Duration

    init(longestClockSleep: Duration) {
        self.longestClockSleep = longestClockSleep
    }

    // MARK: Arming

    /// Requests a wake at `time` unless an earlier one was requested already.
    mutating func arm(_ time: Duration, _ turn: inout Turn) {
        if let armed, armed <= time { return }
        armed = time
        turn.emit(.wake(at: time))
    }

    /// Notes that something of a connection or a peer is due at `time`.
    mutating func arm(_ cause: Deadlines.Cause, at time: Duration, _ turn: inout Turn) {
        deadlines.add(cause, at: time)
        arm(time, &turn)
    }

    /// Arms a check when the wall clock will show `seconds`, or sooner if that is distant: the clock may be set.
    mutating func armClock(_ seconds: UInt64?, _ turn: inout Turn) {
        guard let seconds else { return }
        let limit = longestClockSleep
        let wall = turn.now.wallSeconds
        let left = seconds > wall ? Duration.seconds(Int64(clamping: seconds - wall)) : limit
        let time = turn.now.monotonic + min(left, limit)
        clockWake = min(clockWake ?? time, time)
        arm(time, &turn)
    }

    /// Whether a look for surplus connections is due at some time.
    var isSurplusArmed: Bool { surplusWake != nil }

    mutating func armSurplus(at time: Duration, _ turn: inout Turn) {
        surplusWake = time
        arm(time, &turn)
    }

    /// Whether a note of the peers that are connected is due at some time.
    var isSeenArmed: Bool { seenWake != nil }

    mutating func armSeen(at time: Duration, _ turn: inout Turn) {
        seenWake = time
        arm(time, &turn)
    }

    /// Requests again the wakes of the node itself.
    mutating func rearm(_ turn: inout Turn) {
        if let time = clockWake { arm(time, &turn) }
        if let time = surplusWake { arm(time, &turn) }
        if let time = seenWake { arm(time, &turn) }
    }

    // MARK: Due

    /// The earliest deadline, which may be stale.
    var firstDeadline: (cause: Deadlines.Cause, time: Duration)? { deadlines.first }

    /// Drops the earliest deadline, which must be there.
    mutating func removeFirstDeadline() { deadlines.removeFirst() }

    /// Notes that the requested wake was reached.
    mutating func wakeReached() { armed = nil }

    /// Removes and returns the first deadline if it is due.
    mutating func takeDeadline(until now: Duration) -> (cause: Deadlines.Cause, time: Duration)? {
        deadlines.takeFirst(until: now)
    }

    /// Whether the check of the wall clock is due.
    func isClockDue(_ now: NodeTime) -> Bool { clockWake.map { $0 <= now.monotonic } ?? false }

    /// Notes that the wall clock is being checked.
    mutating func clearClock() { clockWake = nil }

    /// Returns whether it is time to note the peers that are connected; true only once.
    mutating func takeSeen(_ now: NodeTime) -> Bool {
        guard let time = seenWake, time <= now.monotonic else { return false }
        seenWake = nil
        return true
    }

    /// Returns whether it is time to look for surplus connections; true only once.
    mutating func takeSurplus(_ now: NodeTime) -> Bool {
        guard let time = surplusWake, time <= now.monotonic else { return false }
        surplusWake = nil
        return true
    }
}
