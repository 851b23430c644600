internal import Identity

/// A lookup and its purpose.
struct LookupTask: Sendable {
    enum Purpose: Sendable {
        case request(Kademlia.RequestId)
        case neighbourhood(isJoin: Bool)
        case refresh
        /// Taking this node's own record to the nearest members again.
        case republish(RecordId)
    }

    /// Members around a location that are there by chance once in some hundred locations, which costs time only.
    private static let crowd = 6

    var lookup: Lookup
    let purpose: Purpose
    /// The records read so far; nil for a lookup of members alone.
    var reading: ReadProgress?

    init(lookup: Lookup, purpose: Purpose, reading: ReadProgress? = nil) {
        self.lookup = lookup
        self.purpose = purpose
        self.reading = reading
    }

    /// The query for the lookup's candidates.
    var rpc: Message.RPC {
        guard let query = self.reading?.query else { return .findPeers(target: self.lookup.target) }
        return .findRecords(location: query.location, query.selection, inlineLimit: query.inlineLimit)
    }

    /// Takes in the contacts that a peer named in its response.
    mutating func noteAnswer(of peer: PeerId, naming contacts: [Contact], connected: ConnectedPeers) {
        self.lookup.answered(peer, naming: contacts) { connected[$0] != nil }
    }

    /// Widens a read once when many more members crowd around its location than chance would bring there; returns
    /// whether it did.
    ///
    /// The lookup then takes in twice as many, so that honest members are among them again. Within an eighth of the
    /// distance to this node's own tenth neighbour one or two members are to be expected. Ids are hashes of keys, but an
    /// attacker with many members can try keys until they lie where a record does.
    mutating func widenIfBesieged(_ table: RoutingTable) -> Bool {
        guard self.reading?.isBesieged == false, table.count >= table.protected,
            let tenth = table.distance(ofRank: table.places / 2 - 1),
            self.lookup.count(within: tenth / 8) >= Self.crowd
        else { return false }
        self.reading?.isBesieged = true
        self.lookup.widen(to: table.protected)
        return true
    }

    /// Takes in the records that a peer found at the location.
    mutating func take(
        _ found: [Message.Found],
        from peer: PeerId,
        _ validator: inout RecordValidator,
        _ now: NodeTime,
        _ effects: inout [Kademlia.Effect]
    ) -> ReadProgress.Step? {
        let hops = self.lookup.hops(of: peer) ?? 0
        return self.reading?.take(found, from: peer, hops: hops, &validator, now, &effects)
    }

    /// Returns the next peer that has the record of a writer, each once.
    mutating func takeSource(of writer: PeerId) -> Contact? {
        while let source = self.reading?.takeSource(of: writer) {
            if let contact = self.lookup.contact(of: source) { return contact }
        }
        return nil
    }

    /// Whether a record that was not found certainly does not exist: at least half of its replicas have responded.
    var isAbsenceCertain: Bool {
        guard let reading, reading.wanted.isEmpty else { return false }
        if reading.isEnough { return true }
        let near = self.lookup.nearHopeful
        if near.answered == 0 { return !reading.quorum.isEmpty }
        return near.answered * 2 >= near.count
    }
}
