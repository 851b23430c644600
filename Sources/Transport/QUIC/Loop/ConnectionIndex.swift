/// The connections by the ids in their packets, with a memory for consecutive packets to one of them.
struct ConnectionIndex {
    private var cores: [QUICConnectionId: ConnectionCore] = [:]
    private var lastId: QUICConnectionId?
    private var lastCore: ConnectionCore?

    /// Returns the connection to which a packet belongs.
    mutating func find(_ id: QUICConnectionId) -> ConnectionCore? {
        if id != lastId {
            lastId = id
            lastCore = cores[id]
        }
        if lastCore == nil { lastId = nil }
        return lastCore
    }

    /// Adds an id of a connection.
    mutating func add(_ id: QUICConnectionId, of core: ConnectionCore) {
        cores[id] = core
    }

    /// Removes an id.
    mutating func remove(_ id: QUICConnectionId) {
        cores[id] = nil
        forgetLast()
    }

    /// Forgets to which connection the last packet belonged.
    mutating func forgetLast() {
        lastId = nil
        lastCore = nil
    }
}
