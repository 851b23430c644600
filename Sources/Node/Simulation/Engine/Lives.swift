internal import Bytes
internal import Identity
internal import NodeCore

/// The chance in the lives of devices: how they differ, and under churn when each leaves and which one follows it.
struct Lives {
    /// The end of a session that begins.
    struct Departure {
        let at: Int64
        /// Whether the node leaves without a graceful shutdown.
        let isAbrupt: Bool
    }

    /// The node that starts after one that left.
    struct Successor {
        /// The number of its device; nil for a device that did not exist before.
        let number: Int?
        /// The time at which it starts.
        let start: Int64
        /// Whether the node that left never returns.
        let isForGood: Bool
    }

    private struct ChurnState {
        let churn: Scenario.Churn
        /// Nothing happens after this time.
        let end: Int64
        /// Absent nodes, the longest absent first, with the earliest time of their return.
        var absent: [(node: Int, until: Int64)] = []
    }

    private var chance: SeededGenerator
    private var instances: SeededGenerator
    private var state: ChurnState?

    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed, name: "lives")
        instances = SeededGenerator(seed: seed, name: "instances")
    }

    // MARK: Devices

    /// Draws the seconds by which a wall clock is ahead.
    mutating func wallOffset(within skew: Int64) -> Int64 {
        skew > 0 ? Int64.random(in: -skew...skew, using: &chance) : 0
    }

    /// Draws whether a device is hostile.
    mutating func isHostile(share: Double) -> Bool { chance.decide(share) }

    /// Draws any node; after the start of the simulation preferably a running one, because it admits the newcomer.
    mutating func contact(in nodes: Population, at now: Int64) -> Int {
        var other = 0
        for _ in 0..<8 {
            other = Int.random(in: nodes.indices, using: &chance)
            if now == 0 || nodes[other].isRunning { break }
        }
        return other
    }

    /// Draws the identifiers and seeds that distinguish the starts of a core.
    mutating func configuration(
        for signer: any Signer,
        _ limits: Limits,
        _ verifier: NodeCore.Verifier
    ) -> NodeCore.Configuration {
        var configuration = NodeCore.Configuration(
            signer: signer,
            instance: InstanceId(generating: &instances),
            randomSeed: instances.next(),
            nonceKey: SecretBytes(copying: instances.bytes(32)),
            limits: limits,
            verifier: verifier
        )
        // Connections have no paths here: a peer that does not answer has left.
        configuration.traversesNATs = false
        return configuration
    }

    // MARK: Churn

    /// Begins churn: sessions end and others begin.
    mutating func begin(_ churn: Scenario.Churn, at now: Int64) {
        state = ChurnState(churn: churn, end: now + churn.lasting.nanoseconds)
    }

    /// Draws the end of a session that begins now; nil if churn does not end it.
    mutating func departure(at now: Int64) -> Departure? {
        guard let state else { return nil }
        let session = state.churn.sessions.nanoseconds(at: drawShare())
        guard now + session < state.end else { return nil }
        return Departure(at: now + session, isAbrupt: chance.decide(state.churn.abrupt))
    }

    /// Draws the successor of a node that leaves: if nodes are independent, that node itself or a new one; otherwise an
    /// earlier node whose absence has ended, if any; nil after the end of churn.
    mutating func successor(of node: Int, at now: Int64) -> Successor? {
        guard let state, now < state.end else { return nil }
        let isReturning = chance.decide(state.churn.returning)
        if let start = arrival(at: now) {
            return Successor(number: isReturning ? node : nil, start: start, isForGood: !isReturning)
        }
        if isReturning {
            let absence = state.churn.absences.nanoseconds(at: drawShare())
            self.state?.absent.append((node, now + absence))
        }
        guard let index = state.absent.firstIndex(where: { $0.until <= now }),
            chance.decide(state.churn.returning)
        else { return Successor(number: nil, start: now, isForGood: !isReturning) }
        self.state?.absent.remove(at: index)
        return Successor(number: state.absent[index].node, start: now, isForGood: !isReturning)
    }

    /// Draws the start of a node that is absent from now on; nil if a node only starts when another one leaves.
    mutating func arrival(at now: Int64) -> Int64? {
        guard let churn = state?.churn, churn.isIndependent else { return nil }
        return now + churn.absences.nanoseconds(at: drawShare())
    }

    private mutating func drawShare() -> Double { Double(chance.next() >> 11) / 0x1p53 }
}
