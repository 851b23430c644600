internal import Identity

/// The checks of batches that other members publish, with the memberships that were verified and the members that were
/// revoked.
struct BatchValidator: Sendable {
    private let network: NetworkId
    private let memoryLimit: Int
    private let verifySignature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
    private let verifyToken: @Sendable (AccessToken) -> Bool
    /// The members that the owner of the network revoked.
    private(set) var revoked: Set<PeerId> = []
    /// The memberships that were verified, by publisher, so that each is verified once.
    private var verifiedPublishers: [PeerId: MembershipProof] = [:]

    init(_ configuration: PubSub.Configuration) {
        network = configuration.networkId
        memoryLimit = configuration.limits.streams
        verifySignature = configuration.verifySignature
        verifyToken = configuration.verifyToken
    }

    mutating func revoke(_ peer: PeerId) {
        revoked.insert(peer)
        verifiedPublishers[peer] = nil
    }

    /// Whether the publisher is not revoked and its token has not expired.
    func isMember(_ batch: EventBatch, at nowSeconds: UInt64) -> Bool {
        !revoked.contains(batch.stream.publisher)
            && batch.membership.expirationSeconds.map { UnixTime.isPast($0, at: nowSeconds) } != true
    }

    /// Returns the reason why no honest member would have forwarded a batch, or nil.
    mutating func violation(in batch: EventBatch) -> String? {
        let publisher = batch.stream.publisher
        if verifiedPublishers[publisher] != batch.membership {
            guard
                let token = try? batch.membership.token(  // nil means that it is not one
                    of: publisher,
                    in: network
                ), verifyToken(token)
            else { return "events of a publisher that is no member" }
            if verifiedPublishers.count >= memoryLimit { verifiedPublishers = [:] }
            verifiedPublishers[publisher] = batch.membership
        }
        let message = batch.signedBytes(in: network)
        guard verifySignature(batch.publisherKey, message, batch.signature.bytes) else {
            return "events that their publisher did not sign"
        }
        return nil
    }
}
