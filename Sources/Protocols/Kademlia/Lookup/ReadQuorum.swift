internal import Identity

/// The responses to a read that gave a record: a quorum of them must agree on the newest (libp2p Kademlia, "quorum").
struct ReadQuorum: Sendable {
    let location: Bytes32
    /// The first word of the distance from the location within which replicas are expected.
    let radius: UInt64
    /// The newest revision of each response.
    private var revisions: [Revision] = []
    /// The number of ``revisions`` from peers within the ``radius``.
    ///
    /// Colluding nodes name each other, but within the radius they are no more frequent than among all members.
    private var nearCount = 0

    init(location: Bytes32, radius: UInt64) {
        self.location = location
        self.radius = radius
    }

    var isEmpty: Bool { revisions.isEmpty }

    /// Notes the newest revision that a peer gave.
    mutating func note(_ revision: Revision, by peer: PeerId) {
        revisions.append(revision)
        if Distance(peer.words, location).first <= radius { nearCount += 1 }
    }

    /// Whether all responses contained this revision, at least `count` of them from within the radius.
    func agrees(on newest: Revision, count: Int) -> Bool {
        nearCount >= count && revisions.allSatisfy { $0 == newest }
    }
}
