// The pools of one peer that are kept.
extension KeyStore {
    /// The number of pools that are kept although the peer did not confirm them: a confirmation may be lost.
    private static let unconfirmedLimit = 4

    /// Returns the generations of those among this device's pools for one peer that are kept: the newest two up to
    /// `confirmed`, which the peer confirmed last, because messages to the older one may be under way, and the newest of the
    /// others.
    package static func keptGenerations(of pools: [KeyStore], confirmed: UInt32) -> Set<UInt32> {
        let generations = pools.map(\.generation).sorted()
        let known = generations.filter { $0 <= confirmed }.suffix(2)
        let others = generations.filter { $0 > confirmed }.suffix(unconfirmedLimit)
        return Set(known + others)
    }
}
