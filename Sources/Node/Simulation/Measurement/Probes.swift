internal import Identity
internal import NodeCore

/// The times that nodes take from their start to their first admission.
struct AdmissionProbe {
    var samples = Samples()
    /// Refusals by either side.
    var refusals = 0
}

/// The times that revocations take to be known.
struct RevocationProbe {
    private struct Case {
        let victim: PeerId
        let time: Int64
        /// Whether each node has received it, by number.
        var knowing: [Bool]
    }

    private var cases: [Case] = []
    /// From the revocation, at nodes that were never cut off.
    var spread = Samples()
    /// From the first contact across a healed partition, at nodes that were cut off.
    var afterContact = Samples()

    var isEmpty: Bool { cases.isEmpty }

    func isVictim(_ peer: PeerId) -> Bool { cases.contains { $0.victim == peer } }

    mutating func begin(_ victim: PeerId, at time: Int64, nodeCount: Int) {
        cases.append(Case(victim: victim, time: time, knowing: [Bool](repeating: false, count: nodeCount)))
    }

    /// Notes that a node received a revocation; nil if it had it before, else the earliest time at which it could.
    mutating func learn(_ victim: PeerId, by node: Int) -> Int64? {
        guard let index = cases.firstIndex(where: { $0.victim == victim }) else { return nil }
        while cases[index].knowing.count <= node { cases[index].knowing.append(false) }
        guard !cases[index].knowing[node] else { return nil }
        cases[index].knowing[node] = true
        return cases[index].time
    }

    /// Returns the number of pairs of a revocation and a running node in which the node has not received it, and of those in
    /// which the node still admits the victim.
    func gaps(in nodes: Population) -> (ignorant: Int, admitting: Int) {
        var gaps = (ignorant: 0, admitting: 0)
        for revocation in cases {
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
