extension Kademlia {
    /// The bounds of one network's table, lookups and records, each with its reason.
    package struct Limits: Hashable, Sendable {
        // MARK: Table and lookups

        /// k: places in a bucket, replicas of a record, nodes that a lookup ends with (Kademlia, section 2.2).
        package var bucketSize = 20
        /// Concurrent queries of one lookup; go-libp2p measured 10 as better than the paper's 3.
        package var parallelism = 10
        /// Pending queries of one lookup that need a dial first: all of the nearest of each path at once, because each
        /// takes three round trips.
        package var dialParallelism = 48
        /// Paths of one lookup that share no node, so that liars on one of them deceive only that one (S/Kademlia).
        package var disjointPaths = 3
        /// Peers of one address group (/24, /48) in a bucket that has more candidates than places.
        package var peersPerAddressGroup = 2
        /// Candidates that one lookup remembers; farther ones are forgotten.
        package var candidates = 128
        /// Requests of the application that may be under way.
        package var requests = 256
        /// Pending queries to other nodes, of all lookups and of replication.
        package var queries = 1024
        /// Unverified candidates; the oldest is replaced.
        package var unverifiedCandidates = 64
        /// The most writers whose verified membership is remembered, so that it is verified once.
        package var verifiedWriters = 1024

        // MARK: Records

        /// A key, in bytes.
        package var keyByteCount = Record.keyByteLimit
        /// A value, in bytes.
        package var valueByteCount = Record.valueByteLimit
        /// The longest time from now until a record may expire.
        package var lifetimeSeconds: UInt64 = 7 * 86_400
        /// The lifetime of values that their writer renews while it runs; values with a shorter lifetime are not renewed.
        package var lastingSeconds: UInt64 = 6 * 86_400
        /// The tolerated clock difference, for the version and for the latest expiry of a record.
        package var clockToleranceSeconds: UInt64 = 3600
        /// Stored records of all members.
        package var records = 65_536
        /// Bytes of stored records of all members.
        package var recordBytes = 64 << 20
        /// Stored records of one member, tombstones included, so that one member cannot take all the room.
        package var recordsPerMember = 8_192
        /// Bytes of stored records of one member.
        package var recordBytesPerMember = 16 << 20
        /// Members beyond the nearest ``bucketSize`` by which a node that joins makes itself known, because a near node
        /// may have it among its own nearest without being among the joiner's.
        package var greetedBeyondNeighbours = 12
        /// The most locations that are reserved for a conditional write concurrently.
        package var reservations = 256
        /// Locations that one member reserves concurrently, so that none can keep all others from writing.
        package var reservationsPerMember = 32
        /// The longest value that is returned with the first answer; longer ones are fetched from one replica.
        package var inlineByteCount = 4096
        /// The most writers of one key whose records are stored.
        package var writersPerKey = 256
        /// Requests of one peer that are answered at once; further ones wait for ``requestsPerSecond``.
        package var requestBurst = 2_000
        /// Requests of one peer that are answered per second in the long run; those beyond are dropped.
        package var requestsPerSecond = 200

        package init() {}
    }
}
