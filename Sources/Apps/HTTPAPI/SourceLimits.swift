internal import Concurrency
package import Identity

/// The token buckets of the sources of requests.
///
/// An IPv6 source is counted by its /64, which one subscriber has.
package final class SourceLimits: Sendable {
    /// Nil without limits.
    private let buckets: Locked<TokenBuckets<IPAddress>?>

    /// Admits requests at `rate`; all of them without one.
    package init(_ rate: RateLimit?) {
        buckets = Locked(rate.map { TokenBuckets($0) })
    }

    /// Takes a unit of a source; returns false if it has none left.
    ///
    /// A request without an address is admitted.
    package func admit(_ address: IPAddress?, at now: Duration) -> Bool {
        let source = address.map { AddressSource($0).host }
        return buckets.withLock { $0?.take(source, at: now) ?? true }
    }
}
