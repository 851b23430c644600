internal import Bytes

/// A recurring piece of work of a table.
enum Maintenance: Int, CaseIterable, Sendable {
    /// Compare the neighbourhood with the neighbours' own tables.
    case neighbourhood
    /// Query a new neighbour for the members in its table.
    case newcomer
    /// Refresh the bucket that was refreshed the longest ago.
    case refresh
    /// Republish records to members that joined, or that replace one that left.
    case republish
    /// Expire records, and compare the replicas that are due.
    case replicas
    /// Dial unverified candidates.
    case candidates
}

/// The timers and the planned maintenance of one table, with the random generator that spreads them.
///
/// There is at most one wake of the driver and one timer for all maintenance; obsolete timers are skipped.
struct Schedule: Sendable {
    /// Spreads timers and choices; not a secret.
    var random: SeededGenerator
    private var timers = Timers()
    /// The times at which maintenance is due, by its number; nil where none is planned.
    private var dueAt = [Duration?](repeating: nil, count: Maintenance.allCases.count)
    /// The time of the timer that was armed for maintenance.
    private var maintenanceTimerAt: Duration?
    /// The earliest wake that was requested from the driver.
    private var wakeAt: Duration?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Returns the duration give or take a quarter, so that nodes do not act in step.
    mutating func jittered(_ duration: Duration) -> Duration {
        duration * 3 / 4 + duration * Int.random(in: 0..<1024, using: &random) / 2048
    }

    // MARK: Timers

    mutating func arm(_ kind: TimerKind, at time: Duration) { timers.arm(kind, at: time) }

    var earliest: Timer? { timers.earliest }

    mutating func removeEarliest() { timers.removeEarliest() }

    /// Removes and returns the earliest timer if it is due.
    mutating func takeTimer(until time: Duration) -> Timer? {
        guard let earliest = timers.earliest, earliest.at <= time else { return nil }
        timers.removeEarliest()
        return earliest
    }

    /// Returns whether the driver must get a request for a wake at `time`; it need not if it wakes the table earlier.
    mutating func requestWake(at time: Duration) -> Bool {
        if let wakeAt, wakeAt <= time { return false }
        wakeAt = time
        return true
    }

    mutating func wakeReached() { wakeAt = nil }

    // MARK: Maintenance

    func isPlanned(_ work: Maintenance) -> Bool { dueAt[work.rawValue] != nil }

    func isDue(_ work: Maintenance, at now: Duration) -> Bool { dueAt[work.rawValue].map { $0 <= now } ?? false }

    /// Plans the work at `time`, unless it is due earlier already.
    mutating func plan(_ work: Maintenance, at time: Duration) {
        if let planned = dueAt[work.rawValue], planned <= time { return }
        dueAt[work.rawValue] = time
        if let armed = maintenanceTimerAt, armed <= time { return }
        armMaintenance(at: time)
    }

    /// Plans the work after the jittered delay, unless it is due earlier already.
    mutating func plan(_ work: Maintenance, after delay: Duration, from now: Duration) {
        plan(work, at: now + jittered(delay))
    }

    mutating func cancel(_ work: Maintenance) { dueAt[work.rawValue] = nil }

    /// Returns whether the timer for maintenance that was armed last is the one at `time`.
    func isMaintenanceTimer(at time: Duration) -> Bool { maintenanceTimerAt == time }

    /// Notes that the timer for maintenance fired.
    mutating func beginMaintenance() { maintenanceTimerAt = nil }

    /// Arms a timer for the maintenance that is due next.
    mutating func endMaintenance() {
        guard let next = dueAt.lazy.compactMap(\.self).min(),
            maintenanceTimerAt.map({ next < $0 }) ?? true
        else { return }
        armMaintenance(at: next)
    }

    private mutating func armMaintenance(at time: Duration) {
        maintenanceTimerAt = time
        timers.arm(.maintenance, at: time)
    }
}
