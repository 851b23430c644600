internal import Identity
internal import Kademlia
internal import NodeCore

/// How well tables know their neighbourhoods, and how many nodes hold each record.
struct TableProbe {
    var tables = 0
    var knowingAll = 0
    /// All of the nearest but two.
    var knowingMost = 0
    var knowingFew = 0
    var connections = Samples()
    var contacts = Samples()

    /// Records that no running node holds, at the last look.
    var lost = 0
    var records = 0
    /// Of the nearest running nodes, how many hold the newest version.
    var holders = Samples()

    func add(to figures: inout Figures) {
        if self.tables > 0 {
            let tables = Double(self.tables)
            figures["tables"] = tables
            figures["tablesKnowingAllShare"] = Double(self.knowingAll) / tables
            figures["tablesKnowing18Share"] = Double(self.knowingMost) / tables
            figures["tablesKnowingFewerThan5Share"] = Double(self.knowingFew) / tables
            figures.add(counts: "tableContacts", self.contacts)
            figures.add(counts: "connections", self.connections)
        }
        if self.records > 0 {
            figures["records"] = Double(self.records)
            figures["recordsLost"] = Double(self.lost)
            figures.add(counts: "recordHolders", self.holders, badIsLow: true)
        }
    }
}

extension World {
    mutating func measure(_ what: Scenario.Measure) {
        switch what {
        case .tables: self.measureTables()
        case .records: self.measureRecords()
        }
    }

    private mutating func measureTables() {
        let index = self.nodes.memberIndex(honestOnly: false)
        for node in self.nodes.indices {
            guard !self.nodes[node].isHostile, let core = self.nodes.cores[node] else { continue }
            let own = self.nodes[node].peerId.words
            let nearest = index.nearest(to: own, count: MemberIndex.holderCount, excluding: node)
            let contacts = core.contacts(in: self.keys.networkId)
            let known = Set(contacts.map(\.peerId))
            let missing = nearest.count { !known.contains(self.nodes[$0].peerId) }
            self.tableProbe.tables += 1
            if missing == 0 { self.tableProbe.knowingAll += 1 }
            if missing <= 2 { self.tableProbe.knowingMost += 1 }
            if nearest.count - missing < 5 { self.tableProbe.knowingFew += 1 }
            self.tableProbe.contacts.add(Int64(contacts.count))
            self.tableProbe.connections.add(Int64(self.nodes[node].links.count))
        }
    }

    private mutating func measureRecords() {
        let index = self.nodes.memberIndex(honestOnly: true)
        let running = self.nodes.indices.filter { self.nodes[$0].isRunning && !self.nodes[$0].isHostile }
        self.tableProbe.lost = 0
        self.tableProbe.records = 0
        for stored in self.stored {
            guard let version = stored.version else { continue }
            let id = RecordId(location: stored.location, writer: self.nodes[stored.writer].peerId)
            let near = index.nearest(to: stored.location, count: MemberIndex.holderCount)
            let holders = near.count { self.holds(id, version, at: $0) }
            self.tableProbe.records += 1
            self.tableProbe.holders.add(Int64(holders))
            if holders == 0, !running.contains(where: { self.holds(id, version, at: $0) }) { self.tableProbe.lost += 1 }
        }
    }

    private func holds(_ id: RecordId, _ version: UInt64, at node: Int) -> Bool {
        guard let held = self.nodes.cores[node]?.heldVersion(of: id, in: self.keys.networkId) else { return false }
        return held >= version
    }
}
