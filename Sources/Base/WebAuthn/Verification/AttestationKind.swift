/// The proof of an authenticator's model that came with a credential.
package enum AttestationKind: Hashable, Sendable {
    /// No statement.
    case none
    /// A signature by the credential's own key, which proves nothing about the model.
    case selfSigned
    /// A signature by a key that a manufacturer's certificates name, the leaf first, in DER.
    ///
    /// The chain is not verified up to a root, so the model is a claim.
    case certified(chain: [[UInt8]])
}
