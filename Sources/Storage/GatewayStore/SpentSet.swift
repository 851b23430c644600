package import Identity

/// The outcome of an attempt to spend a token.
package enum SpendOutcome: String, Hashable, Sendable {
    /// The token was not spent before.
    case first
    /// The token was spent before, by this gateway or another one with the same set.
    case already
}

/// The spent tokens of an exit, which all its gateways share.
///
/// The set has one conditional operation, so that a store with a conditional put can implement it. Each implementation
/// passes the scenarios of `SpentSetConformance`.
package protocol SpentSet: Sendable {
    /// Marks a token of an epoch as spent, durably on return.
    ///
    /// If several processes call it concurrently for one token, exactly one call returns ``SpendOutcome/first``. A call that
    /// throws may have marked the token: then a repetition returns ``SpendOutcome/already``, and the token is lost.
    ///
    /// - Throws: ``GatewayStoreError/epochEnded(_:)`` for an epoch that was removed, ``GatewayStoreError/storage(_:)``.
    func spend(_ token: Bytes32, epoch: UInt64) async throws(GatewayStoreError) -> SpendOutcome

    /// Removes the tokens of the epochs before `epoch`, none of which can be spent afterwards.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    func endEpochs(before epoch: UInt64) async throws(GatewayStoreError)
}
