internal import Bytes
internal import Identity

/// Who left for a while, and how long the rest stays.
struct ChurnState {
    let churn: Scenario.Churn
    /// Nothing happens after this time.
    let end: Int64
    /// Nodes that come back, the longest absent first, with the time before which they do not.
    var absent: [(node: Int, until: Int64)] = []
}

// Sessions end and others begin; the number of running nodes stays.
extension World {
    mutating func beginChurn(_ churn: Scenario.Churn) {
        self.churn = ChurnState(churn: churn, end: self.queue.now + churn.lasting.nanoseconds)
        for node in self.nodes.indices where self.nodes[node].isRunning && node != Population.owner {
            self.scheduleDeparture(of: node)
        }
    }

    /// Draws how long a node stays that starts now.
    private mutating func scheduleDeparture(of node: Int) {
        guard let state = self.churn else { return }
        let session = state.churn.sessions.nanoseconds(at: self.drawShare())
        guard self.queue.now + session < state.end else { return }
        let isAbrupt = self.lifeChance.decide(state.churn.abrupt)
        self.queue.schedule(
            .stop,
            at: self.queue.now + session,
            node: node,
            stamp: self.nodes[node].generation,
            payload: isAbrupt ? 1 : 0
        )
    }

    /// Lets a session end.
    mutating func end(_ node: Int, isAbrupt: Bool) throws(IdentityError) {
        self.stop(node, isAbrupt: isAbrupt)
        try self.replace(node)
    }

    /// Lets another node take the place of one that left: one that was here before, if one is due.
    private mutating func replace(_ node: Int) throws(IdentityError) {
        guard let state = self.churn, self.queue.now < state.end else { return }
        if self.lifeChance.decide(state.churn.returning) {
            let absence = state.churn.absences.nanoseconds(at: self.drawShare())
            self.churn?.absent.append((node, self.queue.now + absence))
        }
        var next = self.nodes.count
        if let index = state.absent.firstIndex(where: { $0.until <= self.queue.now }),
            self.lifeChance.decide(state.churn.returning)
        {
            next = state.absent[index].node
            self.churn?.absent.remove(at: index)
        } else {
            try self.addNode()
            self.giveContacts(to: next)
        }
        self.start(next)
        self.scheduleDeparture(of: next)
    }

    private mutating func drawShare() -> Double { Double(self.lifeChance.next() >> 11) / 0x1p53 }
}
