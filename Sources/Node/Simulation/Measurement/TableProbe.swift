internal import Identity
internal import Kademlia
internal import NodeCore

/// The completeness of tables in their neighbourhoods, and the number of nodes that hold each record.
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
    /// The number of the nearest running nodes that hold the newest version.
    var replicas = Samples()

    func add(to figures: inout Figures) {
        if tables > 0 {
            let tables = Double(self.tables)
            figures["tables"] = tables
            figures["tablesKnowingAllShare"] = Double(knowingAll) / tables
            figures["tablesKnowing18Share"] = Double(knowingMost) / tables
            figures["tablesKnowingFewerThan5Share"] = Double(knowingFew) / tables
            figures.add(counts: "tableContacts", contacts)
            figures.add(counts: "connections", connections)
        }
        if records > 0 {
            figures["records"] = Double(records)
            figures["recordsLost"] = Double(lost)
            figures.add(counts: "recordHolders", replicas, badIsLow: true)
        }
    }
}

extension TableProbe {
    /// Compares the table of each honest node with its true neighbourhood.
    mutating func measureTables(of nodes: inout Population, in network: NetworkId) {
        let index = nodes.memberIndex(honestOnly: false)
        for node in nodes.indices {
            guard !nodes[node].isHostile, let core = nodes.cores[node] else { continue }
            let own = nodes[node].peerId.words
            let nearest = index.nearest(to: own, count: MemberIndex.replicaCount, excluding: node)
            let contacts = core.contacts(in: network)
            let known = Set(contacts.map(\.peerId))
            let missing = nearest.count { !known.contains(nodes[$0].peerId) }
            tables += 1
            if missing == 0 { knowingAll += 1 }
            if missing <= 2 { knowingMost += 1 }
            if nearest.count - missing < 5 { knowingFew += 1 }
            self.contacts.add(Int64(contacts.count))
            connections.add(Int64(nodes[node].links.count))
        }
    }

    /// Compares the places of each record with the nodes that are nearest to it.
    mutating func measureRecords(_ stored: [StoredKey], in nodes: inout Population, of network: NetworkId) {
        let index = nodes.memberIndex(honestOnly: true)
        let running = nodes.indices.filter { nodes[$0].isRunning && !nodes[$0].isHostile }
        lost = 0
        records = 0
        for stored in stored {
            guard let version = stored.version else { continue }
            let id = RecordId(location: stored.location, writer: nodes[stored.writer].peerId)
            let near = index.nearest(to: stored.location, count: MemberIndex.replicaCount)
            let replicas = near.count { nodes.stores(id, version, at: $0, in: network) }
            records += 1
            self.replicas.add(Int64(replicas))
            let isHeld = replicas > 0 || running.contains { nodes.stores(id, version, at: $0, in: network) }
            if !isHeld { lost += 1 }
        }
    }
}

extension Population {
    fileprivate func stores(_ id: RecordId, _ version: UInt64, at node: Int, in network: NetworkId) -> Bool {
        guard let held = cores[node]?.storedVersion(of: id, in: network) else { return false }
        return held >= version
    }
}
