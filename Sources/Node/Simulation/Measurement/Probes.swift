internal import Identity
internal import NodeCore

/// How long nodes take from their start to their first admission.
struct AdmissionProbe {
    var samples = Samples()
    /// Refusals by either side.
    var refusals = 0
}

/// How long revocations take to be known.
struct RevocationProbe {
    private struct Case {
        let victim: PeerId
        let time: Int64
        /// Nodes that know, by number.
        var knowing: [Bool]
    }

    private var cases: [Case] = []
    /// From the revocation, at nodes that were never cut off.
    var spread = Samples()
    /// From the first contact across a healed partition, at nodes that were cut off.
    var afterContact = Samples()

    var isEmpty: Bool { self.cases.isEmpty }

    func isVictim(_ peer: PeerId) -> Bool { self.cases.contains { $0.victim == peer } }

    mutating func begin(_ victim: PeerId, at time: Int64, nodeCount: Int) {
        self.cases.append(Case(victim: victim, time: time, knowing: [Bool](repeating: false, count: nodeCount)))
    }

    /// Notes that a node knows; nil if it did before, else since when it could.
    mutating func learn(_ victim: PeerId, by node: Int) -> Int64? {
        guard let index = self.cases.firstIndex(where: { $0.victim == victim }) else { return nil }
        while self.cases[index].knowing.count <= node { self.cases[index].knowing.append(false) }
        guard !self.cases[index].knowing[node] else { return nil }
        self.cases[index].knowing[node] = true
        return self.cases[index].time
    }

    /// How many pairs of a revocation and a node there are in which the node does not know it, and in how many of them a
    /// node still admits the victim.
    func gaps(in nodes: Population) -> (ignorant: Int, admitting: Int) {
        var gaps = (ignorant: 0, admitting: 0)
        for revocation in self.cases {
            for (number, node) in nodes.enumerated() where node.peerId != revocation.victim {
                guard let core = nodes.cores[number] else { continue }
                let isKnown = number < revocation.knowing.count && revocation.knowing[number]
                if !isKnown { gaps.ignorant += 1 }
                if core.route(to: revocation.victim) != nil { gaps.admitting += 1 }
            }
        }
        return gaps
    }
}

extension World {
    mutating func noteAdmission(of peer: PeerId, at node: Int) {
        let other = self.nodes.number(of: peer) ?? -1
        self.digest.mix(0xAD3 << 32 | UInt64(node) << 16 ^ UInt64(truncatingIfNeeded: other))
        if let delay = self.nodes.admit(node, at: self.queue.now) { self.admissions.samples.add(delay) }
        guard other >= 0, self.queue.now >= self.partition.end else { return }
        self.nodes.noteContact(of: node, with: other, at: self.queue.now)
    }

    mutating func noteRevocation(of victim: PeerId, knownTo node: Int) {
        self.digest.mix(0x4E40 << 32 | UInt64(node))
        guard let time = self.revocations.learn(victim, by: node), self.nodes[node].peerId != victim else { return }
        if self.nodes[node].isCutOff {
            // Whoever hears of it from a neighbour before its own first contact waited for nothing.
            self.revocations.afterContact.add(self.queue.now - (self.nodes[node].firstContact ?? self.queue.now))
        } else {
            self.revocations.spread.add(self.queue.now - time)
        }
    }

    /// What came out.
    var figures: Figures {
        var figures = Figures()
        figures["events"] = Double(self.queue.takenCount)
        figures["runningNodes"] = Double(self.nodes.count { $0.isRunning })
        figures["unadmittedNodes"] = Double(self.nodes.count { $0.isRunning && !$0.isAdmitted })
        figures["refusals"] = Double(self.admissions.refusals)
        figures.add("admission", self.admissions.samples)
        if self.scenario.localNetwork != nil { figures.add("discovery", self.discoveryProbe.samples) }
        self.requestProbe.add(to: &figures)
        self.tableProbe.add(to: &figures)
        self.eventProbe.add(to: &figures)
        guard !self.revocations.isEmpty else { return figures }
        figures.add("revocationKnown", self.revocations.spread)
        figures.add("revocationKnownAfterContact", self.revocations.afterContact)
        let gaps = self.revocations.gaps(in: self.nodes)
        figures["revocationUnknownNodes"] = Double(gaps.ignorant)
        figures["revokedStillAdmitted"] = Double(gaps.admitting)
        return figures
    }
}
