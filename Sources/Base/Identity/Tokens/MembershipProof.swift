package import Bytes

/// The part of an access token beyond peer and network: the expiry, and the network key's signature.
///
/// Members sign it into records that others republish, so that receivers can check the membership themselves.
package struct MembershipProof: Hashable, Sendable {
    /// The size of the binary form in bytes.
    package static let byteCount = 8 + Ed25519Signature.byteCount
    private static let never = UInt64.max

    /// Nil means without end.
    package let expirationSeconds: UInt64?
    package let signature: Ed25519Signature

    /// Copies the expiry and the signature of `token`.
    package init(of token: AccessToken) {
        self.init(expirationSeconds: token.expirationSeconds, signature: token.signatureValue)
    }

    package init(expirationSeconds: UInt64?, signature: Ed25519Signature) {
        self.expirationSeconds = expirationSeconds
        self.signature = signature
    }

    /// The token of `peer` in `network` with this expiry and signature.
    package func token(of peer: PeerId, in network: NetworkId) throws(IdentityError) -> AccessToken {
        try AccessToken(
            peerId: peer,
            networkId: network,
            expirationSeconds: expirationSeconds,
            signature: signature
        )
    }

    /// Writes the expiry (all bits set for none) and the signature.
    package func write(to writer: inout ByteWriter) {
        writer.write(expirationSeconds ?? Self.never)
        writer.write(signature.bytes)
    }

    /// Reads the form that ``write(to:)`` writes.
    package init(reading reader: inout ByteReader) throws {
        let end = try reader.readUInt64()
        guard end == Self.never || end <= UnixTime.maximum else { throw IdentityError.expirationOutOfRange }
        let bytes = try reader.readSlice(count: Ed25519Signature.byteCount)
        guard let signature = Ed25519Signature(bytes) else {
            throw IdentityError.wrongLength(
                of: "a signature",
                expected: Ed25519Signature.byteCount,
                found: bytes.count
            )
        }
        self.init(expirationSeconds: end == Self.never ? nil : end, signature: signature)
    }
}
