internal import Identity
internal import OrderedCollections

/// The member that waits for the result of a deposit.
struct DepositSource: Hashable, Sendable {
    let peer: PeerId
    /// The peer's number of the request.
    let request: UInt32
}

/// The deposits that are being stored.
struct PendingDeposits: Sendable {
    private struct Pending: Sendable {
        let mail: HeldMail
        /// The members that wait, each with the receipt of its deposit.
        var sources: OrderedDictionary<DepositSource, [UInt8]>
    }

    private var pending: [MailId: Pending] = [:]

    /// Adds a source to a deposit of the same mail; returns false if none is being stored.
    mutating func join(_ id: MailId, _ source: DepositSource, receipt: [UInt8]) -> Bool {
        guard pending[id] != nil else { return false }
        pending[id]?.sources[source] = receipt
        return true
    }

    mutating func add(_ mail: HeldMail, _ source: DepositSource, receipt: [UInt8]) {
        pending[mail.id] = Pending(mail: mail, sources: [source: receipt])
    }

    /// Removes and returns a deposit whose result is known.
    mutating func take(_ id: MailId) -> (mail: HeldMail, sources: OrderedDictionary<DepositSource, [UInt8]>)? {
        pending.removeValue(forKey: id).map { ($0.mail, $0.sources) }
    }
}
