/// The connections of an endpoint: by the ids in their packets, by the addresses of their peers, and by the times at
/// which they act.
///
/// The timers hold every connection that is not gone, so their number is that of the connections.
struct Connections {
    /// The most concurrent closing periods; above it connections are removed at once, and late packets get a stateless
    /// reset.
    private static let maximumClosing = 4096

    var table = ConnectionIndex()
    /// The open connections by where their packets go.
    var places = PlaceIndex()
    var timers = TimerHeap<ConnectionCore>()
    /// The connections that may have something to send in this pass.
    private var dirty: [ConnectionCore] = []
    /// Connections of which nothing is left but their closing period.
    private var closingCount = 0

    /// The connections that are not closing.
    var openCount: Int { timers.count - closingCount }

    /// Adds a connection to those that send in this pass.
    mutating func markDirty(_ core: ConnectionCore) {
        if core.sendState == .none { dirty.append(core) }
        core.sendState = .due
    }

    /// Returns the connections that have a turn, which the caller takes from them one by one.
    mutating func takeDirty() -> [ConnectionCore] {
        guard !dirty.isEmpty else { return [] }
        defer { dirty.removeAll(keepingCapacity: true) }
        return dirty
    }

    /// Keeps a connection for its closing period; false when too many are closing already.
    mutating func keep(_ core: ConnectionCore, closing period: ClosingPeriod, until deadline: UInt64) -> Bool {
        guard closingCount < Self.maximumClosing else { return false }
        closingCount += 1
        core.phase = .closing(period)
        timers.set(core, deadline: deadline)
        return true
    }

    /// Removes a connection from every table.
    mutating func remove(_ core: ConnectionCore) {
        if case .closing = core.phase { closingCount -= 1 }
        core.phase = .gone
        places.remove(core)
        timers.remove(core)
        for id in core.reports.takeIds() { table.remove(id) }
    }
}
