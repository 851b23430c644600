internal import Identity

/// A lookup and its purpose.
struct LookupTask: Sendable {
    enum Purpose: Sendable {
        case request(Kademlia.RequestId)
        case neighbourhood(isJoin: Bool)
        case refresh
        /// Storing this node's own record at the nearest members again.
        case republish(RecordId)
    }

    /// The number of members around a location that indicates an attack.
    ///
    /// Chance produces it at one location in some hundred, where it only costs time.
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
        guard let query = reading?.query else { return .findPeers(target: lookup.target) }
        return .findRecords(location: query.location, query.selection, inlineLimit: query.inlineLimit)
    }

    /// Adds the contacts that a peer named in its response.
    mutating func noteAnswer(of peer: PeerId, naming contacts: [Contact], connected: ConnectedPeers) {
        lookup.answered(peer, naming: contacts) { connected[$0] != nil }
    }

    /// Widens a read once if far more members are near its location than chance explains; returns whether it did.
    ///
    /// The lookup then finds twice as many members, so that honest ones are among them again. Within an eighth of the
    /// distance to this node's own tenth neighbour, one or two members are expected. Ids are hashes of keys, but an attacker
    /// with many members can generate keys until their ids are near a record.
    mutating func widenIfBesieged(_ table: RoutingTable) -> Bool {
        guard reading?.isBesieged == false, table.count >= table.protected,
            let tenth = table.distance(ofRank: table.places / 2 - 1),
            lookup.count(within: tenth / 8) >= Self.crowd
        else { return false }
        reading?.isBesieged = true
        lookup.widen(to: table.protected)
        return true
    }

    /// Adds the records that a peer found at the location.
    mutating func take(
        _ found: [Message.Found],
        from peer: PeerId,
        _ validator: inout RecordValidator,
        _ turn: inout Kademlia.Turn
    ) -> ReadProgress.Step? {
        let hops = lookup.hops(of: peer) ?? 0
        return reading?.take(found, from: peer, hops: hops, &validator, &turn)
    }

    /// Returns the next peer that has the record of a writer, each once.
    mutating func takeSource(of writer: PeerId) -> Contact? {
        while let source = reading?.takeSource(of: writer) {
            if let contact = lookup.contact(of: source) { return contact }
        }
        return nil
    }

    /// Whether a record that was not found certainly does not exist: at least half of its replicas have responded.
    var isAbsenceCertain: Bool {
        guard let reading, reading.wanted.isEmpty else { return false }
        if reading.isEnough { return true }
        let near = lookup.nearHopeful
        if near.answered == 0 { return !reading.quorum.isEmpty }
        return near.answered * 2 >= near.count
    }
}
