internal import Bytes
internal import Identity
internal import Mailbox
internal import NodeCore
internal import OneTimeKeys

/// Everything in a run: nodes, the network between them, and the one queue of events that moves the time.
///
/// Event after event is taken from the queue and given to one node's core as an input; the resulting effects schedule
/// further events. Nothing else happens, and chance is drawn from generators seeded by the run's seed, so a run depends on
/// the scenario and the seed alone.
struct World {
    /// The wall clock of nodes without skew at the beginning.
    static let startSeconds: UInt64 = 1_900_000_000

    let scenario: Scenario
    let keys: SimulatedKeys

    var queue = EventQueue()
    var nodes: Population
    var network: VirtualNetwork
    var lives: Lives
    /// The chance in the steps of the scenario and in its requests.
    var stepChance: SeededGenerator
    var requests = TableRequests()
    var conspiracy = Conspiracy()
    var record = RunRecord()
    /// The answers of disks and applications to mailboxes that are under way.
    var mailAnswers = Slab<Mailbox.HostInput>()
    /// The answers of disks to exchanges of keys that are under way.
    var keyAnswers = Slab<KeyExchanges.HostInput>()
    /// The secrets of one-time keys.
    var keyChance: SeededGenerator
    /// Used again for each input.
    private var effects: [Effect] = []
    /// The answers of the disk to the effects of the present input.
    var diskAnswers: [Input] = []

    init(_ scenario: Scenario, seed: UInt64) throws(IdentityError) {
        self.scenario = scenario
        keys = try SimulatedKeys(scenario.signatures, seed: seed, epoch: Self.startSeconds)
        network = VirtualNetwork(scenario.network, seed: seed)
        lives = Lives(seed: seed)
        stepChance = SeededGenerator(seed: seed, name: "steps")
        keyChance = SeededGenerator(seed: seed, name: "one-time keys")
        nodes = Population(capacity: scenario.nodeCount)
        for _ in 0..<scenario.nodeCount { try addNode() }
        if let hostility = scenario.hostility { try recruit(hostility) }
        for number in nodes.indices { giveContacts(to: number) }
        for (index, step) in scenario.steps.enumerated() {
            queue.schedule(.step, at: step.at.nanoseconds, node: 0, payload: UInt32(index))
        }
    }

    /// Processes the next event, unless it lies after `end`; false when no event is left until then.
    mutating func advance(until end: Int64) throws(IdentityError) -> Bool {
        guard let event = queue.next(until: end) else { return false }
        let node = Int(event.node)
        switch event.kind {
        case .frame: deliverPacket(event, to: node)
        case .acceptedUp: bringUp(event, at: node, isDialler: false)
        case .dialledUp: finishDial(event, by: node)
        case .down: bringDown(event, at: node)
        case .dialArrived: answerDial(event, by: node)
        case .dialFailed: failDial(event.slot)
        case .wake: wake(node, event.stamp)
        case .datagram: deliverDatagram(event, to: node)
        case .start: if nodes[node].generation == event.stamp { beginSession(of: node) }
        case .stop: if nodes[node].generation == event.stamp { try self.end(node, isAbrupt: event.payload != 0) }
        case .step: try perform(event.payload)
        case .task: performTask(event.payload)
        case .mailAnswer: deliverMailAnswer(event, to: node)
        case .keyRequest: deliverKeyRequest(event, to: node)
        case .keysStored: deliverKeyAnswer(event, to: node)
        }
        return true
    }

    // MARK: Inputs and effects

    /// The two times as the node sees them.
    func time(of node: Int) -> NodeTime {
        let seconds = Int64(Self.startSeconds) + queue.now / 1_000_000_000 + nodes[node].wallOffset
        return NodeTime(monotonic: .nanoseconds(queue.now), wallSeconds: UInt64(max(seconds, 0)))
    }

    /// Passes an input to a running node, and performs the effects.
    mutating func apply(_ input: Input, to node: Int) {
        let time = self.time(of: node)
        effects.removeAll(keepingCapacity: true)
        nodes.handle(input, at: time, by: node, into: &effects)
        for index in effects.indices { perform(effects[index], of: node) }
        // Disks take no time, and their answers follow the effects of the same input.
        let answers = diskAnswers
        diskAnswers = []
        for answer in answers { apply(answer, to: node) }
    }

    private mutating func wake(_ node: Int, _ generation: UInt32) {
        guard nodes[node].wakeGeneration == generation, nodes[node].isRunning else { return }
        record.note(.wake, at: queue.now, of: node, 0)
        apply(.timeReached, to: node)
    }

    /// The measurements until the present moment.
    var figures: Figures {
        var figures = Figures()
        figures["events"] = Double(queue.takenCount)
        if network.model.local != nil { figures.add("discovery", record.discovery.samples) }
        record.add(to: &figures, of: nodes)
        var mails = record.mails
        mails.noteMeetings(in: nodes, separatedUntil: network.partition.end, at: queue.now)
        mails.add(to: &figures, at: queue.now)
        guard scenario.exchangesKeys else { return figures }
        let pairs = keyPairs()
        record.sealed.add(to: &figures, pairs: pairs.count, disagreeing: pairs.disagreeing)
        return figures
    }
}
