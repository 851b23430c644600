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
        self.network = configuration.networkId
        self.limits = configuration.limits
        self.verifySignature = configuration.verifySignature
        self.verifyToken = configuration.verifyToken
    }

    mutating func revoke(_ peer: PeerId) {
        self.revoked.insert(peer)
        self.verifiedWriters[peer] = nil
    }

    /// Returns the first reason not to accept a record, or nil when it is good.
    mutating func problem(with head: Record.Head, at nowSeconds: UInt64) -> RecordProblem? {
        let isVerified = self.verifiedWriters[head.writer] == head.membership
        let problem = head.problem(
            at: nowSeconds,
            in: self.network,
            limits: self.limits,
            revoked: self.revoked.contains,
            verifyToken: { isVerified || self.verifyToken($0) },
            verifySignature: self.verifySignature
        )
        if problem == nil, !isVerified {
            if self.verifiedWriters.count >= self.limits.verifiedWriters { self.verifiedWriters = [:] }
            self.verifiedWriters[head.writer] = head.membership
        }
        return problem
    }
}
