internal import Bytes
package import Identity
internal import OrderedCollections

/// The events of one network as a value, free of I/O.
///
/// Every member receives every event of its network and stores the newest ones for a while; the receiver filters them by its
/// subscriptions. So a subscription needs no request, and receives every event published after it. Batches travel along a
/// tree that repairs itself: João Leitão, José Pereira and Luís Rodrigues, *Epidemic Broadcast Trees* (2007, Plumtree). The
/// driver feeds the value ``Input``s with the time and applies the ``Effect``s it appends, in order.
///
/// Differences from the paper:
/// * **Neighbours are chosen among the connections that the hash table keeps anyway**, a few at random, instead of by
///   the shuffled views of *HyParView* (2007): the table already finds members, and replaces those that leave.
/// * **A publisher's events are numbered**, so an announcement carries the end of a stream instead of naming each message,
///   and a member that was disconnected requests all events from a number on.
/// * **New events are also announced to a few members that are not neighbours**, for some seconds (anti-entropy). This
///   reaches a node whose neighbours all fail at once.
///
/// It is composed of values that own their state: the ``BatchValidator``, the ``EventPublisher``, the ``Mesh``, the
/// ``PeerBudgets``, the ``Streams`` and the rounds of ``AntiEntropy``. None of them accesses the others except as an
/// argument. Extensions pass an input of one to the others, and emit effects.
package struct PubSub: Sendable {
    /// The configuration that the value starts with.
    package struct Configuration: Sendable {
        package var localPeerId: PeerId
        package var networkId: NetworkId
        /// Drawn anew at every start of the process; with the peer it names this node's stream.
        package var instance: InstanceId
        /// Signs this node's batches with its peer key.
        package var signer: any Signer
        /// Checks a publisher's signature; simulations of many nodes put a cheaper check here.
        package var verifySignature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Checks the network's signature on the token in a batch.
        package var verifyToken: @Sendable (AccessToken) -> Bool
        /// Spreads choices; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits

        package init(
            localPeerId: PeerId,
            networkId: NetworkId,
            instance: InstanceId,
            signer: any Signer,
            verifySignature: @escaping @Sendable (Ed25519PublicKey, [UInt8], [UInt8]) -> Bool = {
                $0.isValidSignature($2, for: $1)
            },
            verifyToken: @escaping @Sendable (AccessToken) -> Bool = { $0.verifySignature() },
            randomSeed: UInt64,
            limits: Limits = Limits()
        ) {
            self.localPeerId = localPeerId
            self.networkId = networkId
            self.instance = instance
            self.signer = signer
            self.verifySignature = verifySignature
            self.verifyToken = verifyToken
            self.randomSeed = randomSeed
            self.limits = limits
        }
    }

    /// An input from the driver.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection.
        case memberUp(PeerId)
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// The network's owner revoked the peer; its events are no longer accepted.
        case memberRevoked(PeerId)
        /// Whether the peer reads so slowly that batches are only announced to it.
        case congestionChanged(PeerId, Bool)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, ArraySlice<UInt8>)
        /// This node's own token, at the start and whenever it was renewed.
        case tokenChanged(AccessToken)
        /// The application publishes `count` events (``EventBatch/content``) to a topic; all within the bounds.
        case published(topic: String, content: [UInt8], count: Int)
        /// The time of the last `wake` effect was reached.
        case timeReached
        /// The node stops.
        case stopping
    }

    /// An action for the node that runs publish/subscribe, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer.
        case send(PeerId, [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case violation(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Deliver a batch to the application: in order for each publisher, each once; with its number of hops, and the
        /// time of its publication by the monotonic clock, which errs on the late side.
        case deliver(EventBatch, publishedAt: Duration, hops: UInt8)
        /// Report that events of the publisher are lost, because no member stores them.
        case missed(StreamId, count: UInt64)
        /// Report whether this node has no neighbours.
        case isolated(Bool)
    }

    let limits: Limits
    /// Spreads choices; not a secret.
    var random: SeededGenerator
    /// The checks of others' batches, and the revoked members.
    var validator: BatchValidator
    /// The signing of own events.
    var publisher: EventPublisher
    /// The members, and the neighbours among them.
    var mesh: Mesh
    /// The budgets of the work that each member may cause.
    var budgets: PeerBudgets
    /// The streams that are followed, with their replay windows.
    var streams: Streams
    /// The announcements of new events to members that are not neighbours.
    var antiEntropy: AntiEntropy
    /// The earliest wake that was requested from the driver.
    private var wakeAt: Duration?

    package init(_ configuration: Configuration) {
        limits = configuration.limits
        random = SeededGenerator(seed: configuration.randomSeed)
        validator = BatchValidator(configuration)
        publisher = EventPublisher(configuration)
        mesh = Mesh(limits: configuration.limits)
        budgets = PeerBudgets(limits: configuration.limits)
        streams = Streams(own: publisher.stream, limits: configuration.limits)
        antiEntropy = AntiEntropy(limits: configuration.limits)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .memberUp(let peer): memberUp(peer, &turn)
        case .memberDown(let peer): memberDown(peer, &turn)
        case .memberRevoked(let peer): memberRevoked(peer, &turn)
        case .congestionChanged(let peer, let isCongested): congestionChanged(peer, isCongested, &turn)
        case .messageReceived(let peer, let bytes): received(bytes, from: peer, &turn)
        case .tokenChanged(let token): publisher.token = token
        case .published(let topic, let content, let count): publish(topic, content, count, &turn)
        case .timeReached: timeReached(&turn)
        case .stopping: for peer in mesh.neighbours { turn.emit(.send(peer, Message.neighbourEnd.bytes)) }
        }
        if let isIsolated = mesh.takeIsolationChange() { turn.emit(.host(.isolated(isIsolated))) }
        arm(&turn)
    }

    private mutating func received(_ bytes: ArraySlice<UInt8>, from peer: PeerId, _ turn: inout Turn) {
        guard mesh.members.contains(peer) else { return }
        let message: Message
        do {
            message = try Message(bytes)
        } catch {
            return turn.emit(.violation(peer, error.description))
        }
        switch message {
        case .neighbourRequest(let isUrgent): neighbourRequested(by: peer, isUrgent, &turn)
        case .neighbourAnswer(let isAgreed): neighbourAnswered(peer, isAgreed, &turn)
        case .neighbourEnd: neighbourEnded(peer, &turn)
        case .gossip(let batch, let hops, let age):
            batchReceived(batch, hops, age, from: peer, isGossip: true, &turn)
        case .answer(let batch, let hops, let age):
            batchReceived(batch, hops, age, from: peer, isGossip: false, &turn)
        case .iHave(let states): announced(states, by: peer, &turn)
        case .iWant(let stream, let from, let isGraft):
            iWantReceived(stream, from: from, isGraft: isGraft, by: peer, &turn)
        case .prune: mesh.setEager(false, peer)
        }
    }

    // MARK: Time

    private mutating func timeReached(_ turn: inout Turn) {
        wakeAt = nil
        for stream in streams.waiting.elements {
            guard let position = streams.takeDue(stream, at: turn.now.monotonic) else { continue }
            streamDue(at: position, &turn)
        }
        if let dueAt = antiEntropy.dueAt, dueAt <= turn.now.monotonic { spreadNews(&turn) }
        if let ageAt = streams.ageAt, ageAt <= turn.now.monotonic { streams.forgetOld(turn.now) }
    }

    private mutating func arm(_ turn: inout Turn) {
        let times = [antiEntropy.dueAt, streams.ageAt, streams.earliestDue]
        guard let earliest = times.compactMap({ $0 }).min(), earliest != wakeAt else { return }
        wakeAt = earliest
        turn.emit(.wake(at: earliest))
    }

    // MARK: Status

    /// The batches in the replay window, each publisher's in order.
    package var window: [EventBatch] { streams.window }

    /// Whether no neighbour is left.
    package var isIsolated: Bool { mesh.isIsolated }

    /// Whether events are exchanged with the peer without a request.
    package func isNeighbour(_ peer: PeerId) -> Bool { mesh.isNeighbour(peer) }
}
