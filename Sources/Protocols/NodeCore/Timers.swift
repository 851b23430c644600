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
        if let armed = self.armed, armed <= time { return }
        self.armed = time
        turn.emit(.wake(at: time))
    }

    /// Notes that something of a connection or a peer is due at `time`.
    mutating func arm(_ cause: Deadlines.Cause, at time: Duration, _ turn: inout Turn) {
        self.deadlines.add(cause, at: time)
        self.arm(time, &turn)
    }

    /// Arms a check when the wall clock will show `seconds`, or sooner if that is distant: the clock may be set.
    mutating func armClock(_ seconds: UInt64?, _ turn: inout Turn) {
        guard let seconds else { return }
        let limit = self.longestClockSleep
        let wall = turn.now.wallSeconds
        let left = seconds > wall ? Duration.seconds(Int64(clamping: seconds - wall)) : limit
        let time = turn.now.monotonic + min(left, limit)
        self.clockWake = min(self.clockWake ?? time, time)
        self.arm(time, &turn)
    }

    /// Whether a look for surplus connections is due at some time.
    var isSurplusArmed: Bool { self.surplusWake != nil }

    mutating func armSurplus(at time: Duration, _ turn: inout Turn) {
        self.surplusWake = time
        self.arm(time, &turn)
    }

    /// Whether a note of the peers that are connected is due at some time.
    var isSeenArmed: Bool { self.seenWake != nil }

    mutating func armSeen(at time: Duration, _ turn: inout Turn) {
        self.seenWake = time
        self.arm(time, &turn)
    }

    /// Requests again the wakes of the node itself.
    mutating func rearm(_ turn: inout Turn) {
        if let time = self.clockWake { self.arm(time, &turn) }
        if let time = self.surplusWake { self.arm(time, &turn) }
        if let time = self.seenWake { self.arm(time, &turn) }
    }

    // MARK: Due

    /// The earliest deadline, which may be stale.
    var firstDeadline: (cause: Deadlines.Cause, time: Duration)? { self.deadlines.first }

    /// Drops the earliest deadline, which must be there.
    mutating func removeFirstDeadline() { self.deadlines.removeFirst() }

    /// Notes that the requested wake was reached.
    mutating func wakeReached() { self.armed = nil }

    /// Removes and returns the first deadline if it is due.
    mutating func takeDeadline(until now: Duration) -> (cause: Deadlines.Cause, time: Duration)? {
        self.deadlines.takeFirst(until: now)
    }

    /// Whether the check of the wall clock is due.
    func isClockDue(_ now: NodeTime) -> Bool { self.clockWake.map { $0 <= now.monotonic } ?? false }

    /// Notes that the wall clock is being checked.
    mutating func clearClock() { self.clockWake = nil }

    /// Returns whether it is time to note the peers that are connected; true only once.
    mutating func takeSeen(_ now: NodeTime) -> Bool {
        guard let time = self.seenWake, time <= now.monotonic else { return false }
        self.seenWake = nil
        return true
    }

    /// Returns whether it is time to look for surplus connections; true only once.
    mutating func takeSurplus(_ now: NodeTime) -> Bool {
        guard let time = self.surplusWake, time <= now.monotonic else { return false }
        self.surplusWake = nil
        return true
    }
}
