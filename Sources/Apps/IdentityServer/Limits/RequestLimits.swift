internal import Concurrency
internal import HTTPAPI
internal import Identity

/// The token buckets of the requests that need no account: per address, per handle and for the whole server.
///
/// An IPv6 client is counted by its /64, which one subscriber has. The tables are bounded; an entry that is evicted begins
/// with a full bucket.
final class RequestLimits: Sendable {
    /// The rates.
    struct Rates: Sendable {
        /// Challenges and answers of one address.
        var address = RateLimit(every: .seconds(1), atOnce: 60)
        /// Challenges and answers for one handle, whatever the addresses.
        var handle = RateLimit(every: .seconds(2), atOnce: 60)
        /// Accounts that one address registers.
        var registration = RateLimit(every: .seconds(60), atOnce: 20)
    }

    private struct Buckets {
        var addresses: TokenBuckets<IPAddress>
        var handles: TokenBuckets<[UInt8]>
    }

    /// Nil without limits.
    private let buckets: Locked<Buckets?>
    private let registrations: SourceLimits

    init(_ rates: Rates?) {
        buckets = Locked(
            rates.map { Buckets(addresses: TokenBuckets($0.address), handles: TokenBuckets($0.handle)) }
        )
        registrations = SourceLimits(rates?.registration)
    }

    /// Takes a unit of the address, and one of the handle; false if either has none left, and then neither is charged.
    func admit(_ address: IPAddress?, handle: [UInt8]?, at now: Duration) -> Bool {
        let source = address.map { AddressSource($0).host }
        return buckets.withLock { buckets in
            guard let present = buckets else { return true }
            guard present.addresses.hasRoom(for: source, at: now), present.handles.hasRoom(for: handle, at: now) else {
                return false
            }
            buckets?.addresses.charge(source, at: now)
            buckets?.handles.charge(handle, at: now)
            return true
        }
    }

    /// Takes a unit for an account that is about to be stored; false if the address has none left.
    func admitRegistration(_ address: IPAddress?, at now: Duration) -> Bool {
        registrations.admit(address, at: now)
    }
}
