package import Identity

/// The distributed hash table of one network as a value, free of I/O.
package struct Kademlia: Sendable {
    /// What a table must know to start.
    package struct Configuration: Sendable {
        package var localPeerId: PeerId
        package var networkId: NetworkId
        /// Signs this node's records with its peer key.
        package var signer: any Signer
        /// Checks the signature of a record's writer; simulations of many nodes put a cheaper check here.
        package var verifySignature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Checks the network's signature on the token in a record.
        package var verifyToken: @Sendable (AccessToken) -> Bool
        /// Spreads timers and choices; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits

        package init(
            localPeerId: PeerId,
            networkId: NetworkId,
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
            self.signer = signer
            self.verifySignature = verifySignature
            self.verifyToken = verifyToken
            self.randomSeed = randomSeed
            self.limits = limits
        }
    }

    let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
    }

    /// The highest version that a writer whose clock shows `seconds` may give: microseconds since 1970.
    ///
    /// Versions follow the clock, or the newest version seen where that is ahead, so that every new record is newer
    /// than what its writer had read, and nobody can be the newest for ever.
    static func highestVersion(at seconds: UInt64) -> UInt64 {
        let (version, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : version
    }
}

// MARK: - Questions

extension Kademlia {
    /// The live members nearest to this node, the nearest first, at most ``Limits/bucketSize``.
    package var neighbours: [Contact] { [] }

    /// Every member that the table knows alive, the nearest to this node first.
    package var contacts: [Contact] { [] }

    /// Whether an idle connection to the peer is worth keeping: it is a neighbour, or one of the few that keep a far
    /// bucket one round trip away.
    package func keeps(_ peer: PeerId) -> Bool { false }

    /// Figures for status and console.
    package var health: Health { Health() }

    /// How well the table stands.
    package struct Health: Hashable, Sendable {
        /// Members in the table.
        package var contacts = 0
        /// Of these, connected.
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
