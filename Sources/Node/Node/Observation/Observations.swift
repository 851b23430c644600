internal import Identity
internal import Kademlia
internal import NodeCore
internal import PubSub

/// The observations of a driver that depend on earlier ones: path events, refusals and the counts of the core.
struct Observations: Sendable {
    /// The last attempts to reach each peer.
    private(set) var paths = PathHistory()
    private var refusalLine = RepeatedLine()
    /// The counts of the core that were measured last.
    private var tallies = Tallies()

    /// Records an attempt to reach a peer.
    mutating func note(_ event: PathHistory.Event, of peer: PeerId, at time: NodeTime) {
        paths.note(event, of: peer, at: time)
    }

    /// Forgets the path history to release memory.
    mutating func freeMemory() { paths = PathHistory() }

    /// Counts a refused peer; returns nil, or the number of suppressed lines when a line is due.
    mutating func noteRefusal(at now: Duration) -> Int? { refusalLine.note(at: now) }

    /// Measures the effects of an input on the core.
    mutating func measure(
        _ input: Input,
        _ effects: [Effect],
        in core: NodeCore,
        isDiscovering: Bool,
        with metrics: NodeMetrics
    ) {
        let tallies = core.tallies
        if tallies != self.tallies {
            metrics.note(tallies, since: self.tallies)
            self.tallies = tallies
        }
        var haveRecordsChanged = false
        switch input {
        case .membership(.added(let token, _, _)):
            if isDiscovering { metrics.noteSearchStart(in: token.networkId) }
        case .membership(.removed), .table(.recordsLoaded), .table(.persisted): haveRecordsChanged = true
        case .connection, .peer, .membership, .join, .paths, .discovery, .table, .events, .services, .mailbox, .keys,
            .receivesMail, .timeReached, .addressesChanged, .conditionsChanged, .resumed, .stopping:
            // These are measured by their effects.
            break
        }
        for effect in effects {
            switch effect {
            case .table(_, .forget): haveRecordsChanged = true
            case .peer(.joined(let peer, let network)): metrics.noteArrival(of: peer, in: network)
            case .peer(.left(let peer, let network, _)): metrics.noteDeparture(of: peer, in: network)
            case .peer(.discovered(_, let network, _)): metrics.noteHeard(in: network)
            case .events(let network, .deliver(let batch, _, _)): metrics.noteReceived(batch.byteCount, in: network)
            case .connection, .peer, .membership, .join, .paths, .discovery, .table, .events, .services, .mailbox,
                .keys,
                .wake:
                // These are measured where they are performed, or not at all.
                break
            }
        }
        if haveRecordsChanged { metrics.p2p.setDHTStorageSize(core.recordBytes) }
    }
}
