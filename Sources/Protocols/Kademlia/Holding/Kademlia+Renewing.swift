internal import Identity

// The writer's own values that are to last: written anew before they expire, as long as the writer takes part.
//
// A version tells when its value was written, and renewing adds one to it, a microsecond: what somebody else wrote
// meanwhile stays newer. So the time from the writing to the expiry tells, also after a restart, which values
// are to last: those that got the lasting lifetime, and those that were renewed before.
extension Kademlia {
    /// Values that one look at all records renews: thousands are renewed well before they expire.
    private static var renewedAtOnce: Int { 32 }

    /// Signs those anew whose life gets at least twice as long by it, and takes them to the nearest members.
    mutating func renewOwn(_ now: NodeTime, _ effects: inout [Effect]) {
        guard let token, !token.isExpired(at: now.wallSeconds) else { return }
        let end = min(now.wallSeconds + self.limits.lastingSeconds, token.expirationSeconds ?? .max)
        // A token that is over may still count for a minute.
        guard end > now.wallSeconds else { return }
        var due: [(id: RecordId, record: Record)] = []
        for place in self.store.places where due.count < Self.renewedAtOnce {
            for held in place.held where held.isOwn {
                guard let record = held.record, self.isLasting(record), record.expirySeconds > now.wallSeconds,
                    (end - now.wallSeconds) / 2 >= record.expirySeconds - now.wallSeconds
                else { continue }
                due.append((held.id, record))
            }
        }
        for (id, record) in due {
            do {
                let renewed = try Record.create(
                    key: record.key,
                    value: record.value,
                    version: record.version + 1,
                    expirySeconds: end,
                    token: token,
                    signer: self.configuration.signer
                )
                self.keep(renewed, id, isOwn: true, now, &effects)
                self.startRepublishing(id, now, &effects)
            } catch {
                continue  // the key cannot sign at the moment: the next look tries again
            }
        }
    }

    /// Whether the writer gave the value no end of its own; the end of a membership is none.
    private func isLasting(_ record: Record) -> Bool {
        guard !record.isTombstone, record.version < .max else { return false }
        if record.expirySeconds == record.head.membership.expirationSeconds { return true }
        // A version may be ahead of its writer's clock, where somebody else's was.
        let tolerance = min(self.limits.clockToleranceSeconds, self.limits.lastingSeconds)
        let writtenAt = record.version / Self.versionsPerSecond
        return record.expirySeconds >= writtenAt + self.limits.lastingSeconds - tolerance
    }
}
