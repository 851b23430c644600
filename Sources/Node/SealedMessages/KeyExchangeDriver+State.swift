internal import OneTimeKeys

// The pools that are kept.
extension KeyExchangeDriver.State {
    /// The number of pools that are kept although the peer did not confirm them: a confirmation may be lost.
    private static let unconfirmedLimit = 4

    /// The newest pool that the peer confirmed.
    var confirmedPool: KeyStore? { pools.last { $0.generation <= confirmedGeneration } }

    /// The generations of the pools that are kept: the newest two that were confirmed, because messages to the older one
    /// may be under way, and the newest of those that were not.
    var keptGenerations: Set<UInt32> {
        let generations = pools.map(\.generation).sorted()
        let confirmed = generations.filter { $0 <= confirmedGeneration }.suffix(2)
        let others = generations.filter { $0 > confirmedGeneration }.suffix(Self.unconfirmedLimit)
        return Set(confirmed + others)
    }
}
