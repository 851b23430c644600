package import Identity
internal import OrderedCollections

// What may be asked about a table.
extension Kademlia {
    /// The live members nearest to this node, the nearest first, at most ``Limits/bucketSize``.
    package var neighbours: [Contact] {
        Array(self.routing.table.entries.lazy.filter(\.isAlive).prefix(self.limits.bucketSize).map(\.contact))
    }

    /// Every member that the table knows alive, the nearest to this node first.
    package var contacts: [Contact] { self.routing.table.entries.filter(\.isAlive).map(\.contact) }

    /// How many connected members of each far bucket are worth a connection.
    private static var keptPerBucket: Int { 2 }

    /// Whether an idle connection to the peer is worth keeping: it is a neighbour, or one of the few that keep a far
    /// bucket one round trip away.
    ///
    /// Twice as many neighbours count as a node looks after itself, because who is among another's nearest is not
    /// always among one's own.
    package func keeps(_ peer: PeerId) -> Bool {
        guard let position = self.routing.table.position(of: peer), self.routing.table.entries[position].isConnected else {
            return false
        }
        if position < 2 * self.limits.bucketSize { return true }
        if self.routing.table.connectedCount(in: 0..<position) < 2 * self.limits.bucketSize { return true }
        let since = self.routing.table.entries[position].since
        let bucket = self.routing.table.range(of: Distance(peer.words, self.local.words).bucket)
        return self.routing.table.connectedCount(in: bucket, before: since) < Self.keptPerBucket
    }

    /// Figures for status and console.
    package var health: Health {
        var health = Health()
        health.contacts = self.routing.table.entries.count(where: \.isAlive)
        health.connected = self.peers.count
        let near = self.routing.table.entries.lazy.filter(\.isAlive).prefix(self.limits.bucketSize)
        health.connectedNeighbours = near.count(where: \.isConnected)
        health.buckets = Set(self.routing.table.entries.map { Distance($0.peerId.words, self.local.words).bucket }).count
        health.records = self.store.total.records
        health.recordBytes = self.store.total.bytes
        health.ownRecords = self.store.own.records
        health.requests = self.requests.count
        return health
    }

    /// The bytes of all records held.
    package var storedBytes: Int { self.store.total.bytes }

    /// The version under which this node holds a record, for figures about replication.
    package func heldVersion(of id: RecordId) -> UInt64? {
        self.store[id].flatMap { $0.record == nil ? nil : $0.version }
    }

    /// The record that this node holds, or nil.
    package func heldRecord(_ id: RecordId) -> Record? { self.store[id]?.record }

    /// The heads of all records that this node holds, tombstones included, by location.
    package var heldHeads: [Record.Head] {
        self.store.places.flatMap { place in place.held.compactMap { $0.record?.head } }
    }

    /// Every place of the table that is taken, the nearest member first.
    package var rows: [Row] {
        self.routing.table.entries.map { entry in
            Row(
                peerId: entry.peerId,
                bucket: Distance(entry.peerId.words, self.local.words).bucket,
                isConnected: entry.isConnected,
                isAlive: entry.isAlive
            )
        }
    }

    /// A member in the table.
    package struct Row: Hashable, Sendable {
        package let peerId: PeerId
        /// How many leading bits its id shares with this node's.
        package let bucket: Int
        package let isConnected: Bool
        /// Whether there is no reason to think that it is gone.
        package let isAlive: Bool
    }

    /// How well the table stands.
    package struct Health: Hashable, Sendable {
        /// Members in the table that are not suspected to be gone.
        package var contacts = 0
        /// Members connected, in the table or not.
        package var connected = 0
        /// Of the nearest ``Limits/bucketSize``, connected.
        package var connectedNeighbours = 0
        /// Buckets with at least one member.
        package var buckets = 0
        /// Records held, tombstones included.
        package var records = 0
        /// Bytes of these.
        package var recordBytes = 0
        /// Records of these that this node wrote.
        package var ownRecords = 0
        /// Requests of the application under way.
        package var requests = 0

        package init() {}
    }
}
