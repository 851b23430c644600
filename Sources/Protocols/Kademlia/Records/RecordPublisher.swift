internal import Identity

/// Signs this node's own records, and renews lasting ones as long as the node runs.
///
/// The version of a record is the time of its writing in microseconds. A renewal adds one, so values that others wrote in
/// the meantime stay newer. The time from writing to expiry therefore identifies the lasting values, also after a restart:
/// those written with the lasting lifetime, and those renewed before.
struct RecordPublisher: Sendable {
    /// The most values that one review renews: thousands are renewed well before they expire.
    private static let renewalLimit = 32

    private let signer: any Signer
    private let limits: Kademlia.Limits
    /// The membership in this node's records; nil before the node has one.
    var token: AccessToken?

    init(signer: any Signer, limits: Kademlia.Limits) {
        self.signer = signer
        self.limits = limits
    }

    /// Whether this node may write.
    func isMember(at nowSeconds: UInt64) -> Bool { validToken(at: nowSeconds) != nil }

    private func validToken(at nowSeconds: UInt64) -> AccessToken? {
        token.flatMap { $0.isExpired(at: nowSeconds) ? nil : $0 }
    }

    /// Signs the record of a put or delete, newer than the newest version seen under the key (0 if there is none).
    func record(
        for request: Kademlia.Request,
        newerThan seen: UInt64,
        at nowSeconds: UInt64
    ) throws(KademliaError) -> Record {
        guard let token = validToken(at: nowSeconds) else { throw .notAMember }
        let version = max(Record.highestVersion(at: nowSeconds), seen == .max ? seen : seen + 1)
        guard version <= Record.highestVersion(at: nowSeconds + limits.clockToleranceSeconds) else {
            throw .clockDiffers
        }
        let value: [UInt8]?
        let lifetime: UInt64
        switch request {
        case .put(_, let bytes, _, let seconds): (value, lifetime) = (bytes, seconds)
        // A tombstone outlives the value that it deletes.
        case .delete, .get, .all, .one, .nearest, .bootstrap: (value, lifetime) = (nil, limits.lifetimeSeconds)
        }
        return try Record.create(
            key: request.key,
            value: value,
            version: version,
            expirySeconds: nowSeconds + lifetime,
            token: token,
            signer: signer
        )
    }

    /// Returns new versions of the own stored records whose remaining lifetime at least doubles.
    func renewals(of store: RecordStore, at nowSeconds: UInt64) -> [(id: RecordId, record: Record)] {
        guard let token = validToken(at: nowSeconds) else { return [] }
        let end = min(nowSeconds + limits.lastingSeconds, token.expirationSeconds ?? .max)
        // An expired token may still count for a minute.
        guard end > nowSeconds else { return [] }
        var due: [(id: RecordId, record: Record)] = []
        for place in store.places where due.count < Self.renewalLimit {
            for stored in place.stored where stored.isOwn {
                guard let record = stored.record, isLasting(record), record.expirySeconds > nowSeconds,
                    (end - nowSeconds) / 2 >= record.expirySeconds - nowSeconds
                else { continue }
                due.append((stored.id, record))
            }
        }
        return due.compactMap { id, record in
            do {
                let renewed = try Record.create(
                    key: record.key,
                    value: record.value,
                    version: record.version + 1,
                    expirySeconds: end,
                    token: token,
                    signer: signer
                )
                return (id, renewed)
            } catch {
                return nil  // the key cannot sign at the moment: the next review tries again
            }
        }
    }

    /// Whether the writer set no expiry of its own; the expiry of the membership does not count as one.
    private func isLasting(_ record: Record) -> Bool {
        guard !record.isTombstone, record.version < .max else { return false }
        if record.expirySeconds == record.head.membership.expirationSeconds { return true }
        // A version may be ahead of its writer's clock, because another writer's clock was.
        let tolerance = min(limits.clockToleranceSeconds, limits.lastingSeconds)
        let writtenAt = record.version / Record.versionsPerSecond
        return record.expirySeconds >= writtenAt + limits.lastingSeconds - tolerance
    }
}
