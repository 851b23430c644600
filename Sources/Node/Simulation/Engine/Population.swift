internal import Identity
internal import NodeCore

/// The devices of a run by number, with the cores of those that run.
struct Population: RandomAccessCollection, MutableCollection {
    /// The number of the node that owns the network.
    static let owner = 0

    private var nodes: [SimulatedNode] = []
    /// Apart from the nodes, so that reading a node copies no core.
    private(set) var cores: [NodeCore?] = []
    /// Looked up, never iterated.
    private var numbers: [PeerId: Int] = [:]
    /// All running nodes, and all running honest ones (true); made when they are needed.
    private var indexes: [Bool: MemberIndex] = [:]

    init(capacity: Int) {
        self.nodes.reserveCapacity(capacity)
    }

    var startIndex: Int { self.nodes.startIndex }
    var endIndex: Int { self.nodes.endIndex }

    subscript(number: Int) -> SimulatedNode {
        _read { yield self.nodes[number] }
        _modify { yield &self.nodes[number] }
    }

    /// Returns the number of the node with an id; nil if no node has it.
    func number(of peer: PeerId) -> Int? { self.numbers[peer] }

    /// Adds a device that is switched off.
    mutating func add(_ node: SimulatedNode) {
        self.numbers[node.peerId] = self.nodes.count
        self.nodes.append(node)
        self.cores.append(nil)
    }

    // MARK: Lives

    /// Gives a device that is switched off a core of its own.
    mutating func switchOn(_ number: Int, _ configuration: NodeCore.Configuration, at now: Int64) {
        self.nodes[number].generation &+= 1
        self.nodes[number].startedAt = now
        self.nodes[number].isAdmitted = false
        self.nodes[number].isRunning = true
        self.cores[number] = NodeCore(configuration)
        self.indexes = [:]
    }

    /// Takes the core of a device away; events for its generation are void from then on.
    mutating func switchOff(_ number: Int) {
        self.cores[number] = nil
        self.nodes[number].isRunning = false
        self.nodes[number].generation &+= 1
        self.indexes = [:]
    }

    /// Gives an input to the core of a node that runs.
    mutating func handle(_ input: Input, at time: NodeTime, by number: Int, into effects: inout [Effect]) {
        self.cores[number]?.handle(input, at: time, into: &effects)
    }

    /// Notes an admission at a node; returns the time since its start if it is the first one since then.
    mutating func admit(_ number: Int, at now: Int64) -> Int64? {
        guard !self.nodes[number].isAdmitted else { return nil }
        self.nodes[number].isAdmitted = true
        return now - self.nodes[number].startedAt
    }

    /// The way from one node to another, with the sides of a partition on which they are.
    func way(from source: Int, to target: Int) -> Way {
        Way(
            source: source,
            target: target,
            isSourceCutOff: self.nodes[source].isCutOff,
            isTargetCutOff: self.nodes[target].isCutOff
        )
    }

    /// Returns the time from which two nodes run and reach each other, after the end of the latest partition.
    ///
    /// It lies ahead while that partition separates them. Returns nil if one of them is off.
    func meeting(of first: Int, and second: Int, separatedUntil end: Int64) -> Int64? {
        guard self.nodes[first].isRunning, self.nodes[second].isRunning else { return nil }
        let start = Swift.max(self.nodes[first].startedAt, self.nodes[second].startedAt)
        return self.nodes[first].isCutOff == self.nodes[second].isCutOff ? start : Swift.max(start, end)
    }

    /// Notes a connection of two nodes after a partition.
    mutating func noteContact(of number: Int, with other: Int, at now: Int64) {
        guard self.nodes[number].firstContact == nil, self.nodes[number].isCutOff, !self.nodes[other].isCutOff else {
            return
        }
        self.nodes[number].firstContact = now
    }

    // MARK: Members

    /// The number of running nodes that were admitted.
    var admittedCount: Int { self.nodes.count { $0.isRunning && $0.isAdmitted } }

    /// Returns all running nodes by id.
    mutating func memberIndex(honestOnly: Bool) -> MemberIndex {
        if let index = self.indexes[honestOnly] { return index }
        let running = self.nodes.indices.filter {
            self.nodes[$0].isRunning && !(honestOnly && self.nodes[$0].isHostile)
        }
        let index = MemberIndex(running.map { (self.nodes[$0].peerId, $0) })
        self.indexes[honestOnly] = index
        return index
    }
}
