internal import Identity
internal import OneTimeKeys
internal import Platform

// The effects to perform, and the pools that are kept.
extension KeyExchangeDriver.State {
    /// The state of a relationship that was read from files.
    init(_ stored: KeyStoreFiles<SystemFileSystem>.Relationship, _ status: KeyExchange.Status) {
        pools = stored.pools
        peerKeys = stored.peerKeys
        reservedCount = stored.peerKeys?.usedCount ?? 0
        self.status = status
        confirmedGeneration = stored.established?.ownGeneration ?? 0
        verifiedBinding = stored.verifiedBinding
    }

    /// Takes the next effect to perform; nil if none is left.
    mutating func nextEffect() -> KeyExchanges.HostEffect? {
        guard !effects.isEmpty else {
            isQueued = false
            return nil
        }
        return effects.removeFirst()
    }

    /// The newest pool that the peer confirmed.
    var confirmedPool: KeyStore? { pools.last { $0.generation <= confirmedGeneration } }

    /// The generations of the pools that are kept.
    var keptGenerations: Set<UInt32> { KeyStore.keptGenerations(of: pools, confirmed: confirmedGeneration) }
}
