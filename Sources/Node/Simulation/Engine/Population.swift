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
        nodes.reserveCapacity(capacity)
    }

    var startIndex: Int { nodes.startIndex }
    var endIndex: Int { nodes.endIndex }

    subscript(number: Int) -> SimulatedNode {
        _read { yield nodes[number] }
        _modify { yield &nodes[number] }
    }

    /// Returns the number of the node with an id; nil if no node has it.
    func number(of peer: PeerId) -> Int? { numbers[peer] }

    /// Adds a device that is switched off.
    mutating func add(_ node: SimulatedNode) {
        numbers[node.peerId] = nodes.count
        nodes.append(node)
        cores.append(nil)
    }

    // MARK: Lives

    /// Gives a device that is switched off a core of its own.
    mutating func switchOn(_ number: Int, _ configuration: NodeCore.Configuration, at now: Int64) {
        nodes[number].generation &+= 1
        nodes[number].startedAt = now
        nodes[number].isAdmitted = false
        nodes[number].isRunning = true
        cores[number] = NodeCore(configuration)
        indexes = [:]
    }

    /// Takes the core of a device away; events for its generation are void from then on.
    mutating func switchOff(_ number: Int) {
        cores[number] = nil
        nodes[number].isRunning = false
        nodes[number].generation &+= 1
        indexes = [:]
    }

    /// Gives an input to the core of a node that runs.
    mutating func handle(_ input: Input, at time: NodeTime, by number: Int, into effects: inout [Effect]) {
        cores[number]?.handle(input, at: time, into: &effects)
    }

    /// Notes an admission at a node; returns the time since its start if it is the first one since then.
    mutating func admit(_ number: Int, at now: Int64) -> Int64? {
        guard !nodes[number].isAdmitted else { return nil }
        nodes[number].isAdmitted = true
        return now - nodes[number].startedAt
    }

    /// The way from one node to another, with the sides of a partition on which they are.
    func way(from source: Int, to target: Int) -> Way {
        Way(
            source: source,
            target: target,
            isSourceCutOff: nodes[source].isCutOff,
            isTargetCutOff: nodes[target].isCutOff
        )
    }

    /// Returns the time from which two nodes run and reach each other, after the end of the latest partition.
    ///
    /// It lies ahead while that partition separates them. Returns nil if one of them is off.
    func meeting(of first: Int, and second: Int, separatedUntil end: Int64) -> Int64? {
        guard nodes[first].isRunning, nodes[second].isRunning else { return nil }
        let start = Swift.max(nodes[first].startedAt, nodes[second].startedAt)
        return nodes[first].isCutOff == nodes[second].isCutOff ? start : Swift.max(start, end)
    }

    /// Notes a connection of two nodes after a partition.
    mutating func noteContact(of number: Int, with other: Int, at now: Int64) {
        guard nodes[number].firstContact == nil, nodes[number].isCutOff, !nodes[other].isCutOff else { return }
        nodes[number].firstContact = now
    }

    // MARK: Members

    /// The number of running nodes that were admitted.
    var admittedCount: Int { nodes.count { $0.isRunning && $0.isAdmitted } }

    /// Returns all running nodes by id.
    mutating func memberIndex(honestOnly: Bool) -> MemberIndex {
        if let index = indexes[honestOnly] { return index }
        let running = nodes.indices.filter {
            nodes[$0].isRunning && !(honestOnly && nodes[$0].isHostile)
        }
        let index = MemberIndex(running.map { (nodes[$0].peerId, $0) })
        indexes[honestOnly] = index
        return index
    }
}
