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
        self.keys = try SimulatedKeys(scenario.signatures, seed: seed, epoch: Self.startSeconds)
        self.network = VirtualNetwork(scenario.network, seed: seed)
        self.lives = Lives(seed: seed)
        self.stepChance = SeededGenerator(seed: seed, name: "steps")
        self.keyChance = SeededGenerator(seed: seed, name: "one-time keys")
        self.nodes = Population(capacity: scenario.nodeCount)
        for _ in 0..<scenario.nodeCount { try self.addNode() }
        if let hostility = scenario.hostility { try self.recruit(hostility) }
        for number in self.nodes.indices { self.giveContacts(to: number) }
        for (index, step) in scenario.steps.enumerated() {
            self.queue.schedule(.step, at: step.at.nanoseconds, node: 0, payload: UInt32(index))
        }
    }

    /// Processes the next event, unless it lies after `end`; false when no event is left until then.
    mutating func advance(until end: Int64) throws(IdentityError) -> Bool {
        guard let event = self.queue.next(until: end) else { return false }
        let node = Int(event.node)
        switch event.kind {
        case .frame: self.deliverPacket(event, to: node)
        case .acceptedUp: self.bringUp(event, at: node, isDialler: false)
        case .dialledUp: self.finishDial(event, by: node)
        case .down: self.bringDown(event, at: node)
        case .dialArrived: self.answerDial(event, by: node)
        case .dialFailed: self.failDial(event.slot)
        case .wake: self.wake(node, event.stamp)
        case .datagram: self.deliverDatagram(event, to: node)
        case .start: if self.nodes[node].generation == event.stamp { self.beginSession(of: node) }
        case .stop: if self.nodes[node].generation == event.stamp { try self.end(node, isAbrupt: event.payload != 0) }
        case .step: try self.perform(event.payload)
        case .task: self.performTask(event.payload)
        case .mailAnswer: self.deliverMailAnswer(event, to: node)
        case .keyRequest: self.deliverKeyRequest(event, to: node)
        case .keysStored: self.deliverKeyAnswer(event, to: node)
        }
        return true
    }

    // MARK: Inputs and effects

    /// The two times as the node sees them.
    func time(of node: Int) -> NodeTime {
        let seconds = Int64(Self.startSeconds) + self.queue.now / 1_000_000_000 + self.nodes[node].wallOffset
        return NodeTime(monotonic: .nanoseconds(self.queue.now), wallSeconds: UInt64(max(seconds, 0)))
    }

    /// Passes an input to a running node, and performs the effects.
    mutating func apply(_ input: Input, to node: Int) {
        let time = self.time(of: node)
        self.effects.removeAll(keepingCapacity: true)
        self.nodes.handle(input, at: time, by: node, into: &self.effects)
        for index in self.effects.indices { self.carryOut(self.effects[index], of: node) }
        // Disks take no time, and their answers follow the effects of the same input.
        let answers = self.diskAnswers
        self.diskAnswers = []
        for answer in answers { self.apply(answer, to: node) }
    }

    private mutating func wake(_ node: Int, _ generation: UInt32) {
        guard self.nodes[node].wakeGeneration == generation, self.nodes[node].isRunning else { return }
        self.record.note(.wake, at: self.queue.now, of: node, 0)
        self.apply(.timeReached, to: node)
    }

    /// The measurements until the present moment.
    var figures: Figures {
        var figures = Figures()
        figures["events"] = Double(self.queue.takenCount)
        if self.network.model.local != nil { figures.add("discovery", self.record.discovery.samples) }
        self.record.add(to: &figures, of: self.nodes)
        var mails = self.record.mails
        mails.noteMeetings(in: self.nodes, separatedUntil: self.network.partition.end, at: self.queue.now)
        mails.add(to: &figures, at: self.queue.now)
        guard self.scenario.exchangesKeys else { return figures }
        let pairs = self.keyPairs()
        self.record.sealed.add(to: &figures, pairs: pairs.count, disagreeing: pairs.disagreeing)
        return figures
    }
}
