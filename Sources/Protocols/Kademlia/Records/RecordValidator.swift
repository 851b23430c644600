internal import Identity

/// The checks of records that other nodes send, with the memberships that were verified and the members that were revoked.
struct RecordValidator: Sendable {
    private let network: NetworkId
    private let limits: Kademlia.Limits
    private let verifySignature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
    private let verifyToken: @Sendable (AccessToken) -> Bool
    /// The members that the owner of the network revoked.
    private(set) var revoked: Set<PeerId> = []
    /// The memberships that were verified, by writer, so that each is verified once.
    private var verifiedWriters: [PeerId: MembershipProof] = [:]

    init(_ configuration: Kademlia.Configuration) {
        network = configuration.networkId
        limits = configuration.limits
        verifySignature = configuration.verifySignature
        verifyToken = configuration.verifyToken
    }

    mutating func revoke(_ peer: PeerId) {
        revoked.insert(peer)
        verifiedWriters[peer] = nil
    }

    /// Returns the first reason not to accept a record, or nil when it is good.
    mutating func problem(with head: Record.Head, at nowSeconds: UInt64) -> RecordProblem? {
        let isVerified = verifiedWriters[head.writer] == head.membership
        let problem = head.problem(
            at: nowSeconds,
            in: network,
            limits: limits,
            revoked: revoked.contains,
            verifyToken: { isVerified || verifyToken($0) },
            verifySignature: verifySignature
        )
        if problem == nil, !isVerified {
            if verifiedWriters.count >= limits.verifiedWriters { verifiedWriters = [:] }
            verifiedWriters[head.writer] = head.membership
        }
        return problem
    }
}
