internal import Identity

extension Revocation {
    /// Eight bytes by which sets are compared: the first ones of the signature.
    ///
    /// Devices choose their PeerIds, and two with equal bytes would count as one. Signatures are made by the owner.
    var fingerprint: UInt64 {
        signatureValue.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
