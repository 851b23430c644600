/// The connections by the ids in their packets, with a memory for consecutive packets to one of them.
struct ConnectionTable {
    private var cores: [ConnectionID: ConnectionCore] = [:]
    private var lastID: ConnectionID?
    private var lastCore: ConnectionCore?

    /// Returns the connection to which a packet belongs.
    mutating func find(_ id: ConnectionID) -> ConnectionCore? {
        if id != lastID {
            lastID = id
            lastCore = cores[id]
        }
        if lastCore == nil { lastID = nil }
        return lastCore
    }

    /// Adds an id of a connection.
    mutating func add(_ id: ConnectionID, of core: ConnectionCore) {
        cores[id] = core
    }

    /// Removes an id.
    mutating func remove(_ id: ConnectionID) {
        cores[id] = nil
        forgetLast()
    }

    /// Forgets to which connection the last packet belonged.
    mutating func forgetLast() {
        lastID = nil
        lastCore = nil
    }
}
