internal import Concurrency
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
        var addresses = RecentlyUsed<IPAddress, TokenBucket>(limit: RequestLimits.entryLimit)
        var registrations = RecentlyUsed<IPAddress, TokenBucket>(limit: RequestLimits.entryLimit)
        var handles = RecentlyUsed<[UInt8], TokenBucket>(limit: RequestLimits.entryLimit)
    }

    /// The most entries of one generation of a table.
    private static let entryLimit = 32_768

    /// Nil without limits.
    private let rates: Rates?
    private let buckets = Locked(Buckets())

    init(_ rates: Rates?) {
        self.rates = rates
    }

    /// Takes a unit of the address, and one of the handle; false if either has none left, and then neither is charged.
    func admit(_ address: IPAddress?, handle: [UInt8]?, at now: Duration) -> Bool {
        guard let rates else { return true }
        return buckets.withLock { buckets in
            let place = address?.subscriber
            var ofAddress = place.flatMap { buckets.addresses[$0] } ?? TokenBucket()
            var ofHandle = handle.flatMap { buckets.handles[$0] } ?? TokenBucket()
            guard ofAddress.hasRoom(under: rates.address, at: now), ofHandle.hasRoom(under: rates.handle, at: now)
            else {
                return false
            }
            ofAddress.charge(under: rates.address, at: now)
            ofHandle.charge(under: rates.handle, at: now)
            if let place { buckets.addresses[place] = ofAddress }
            if let handle { buckets.handles[handle] = ofHandle }
            return true
        }
    }

    /// Takes a unit for an account that is about to be stored; false if the address has none left.
    func admitRegistration(_ address: IPAddress?, at now: Duration) -> Bool {
        guard let rates, let place = address?.subscriber else { return true }
        return buckets.withLock { buckets in
            var bucket = buckets.registrations[place] ?? TokenBucket()
            guard bucket.take(under: rates.registration, at: now) else { return false }
            buckets.registrations[place] = bucket
            return true
        }
    }
}

extension IPAddress {
    /// The address by which a client is counted: itself for IPv4, and the first 64 bits for IPv6.
    var subscriber: IPAddress {
        guard case .v6(let high, _, _) = unmapped else { return unmapped }
        return .v6(high: high, low: 0, scope: 0)
    }
}
