/// The verified result of a registration.
package struct NewCredential: Hashable, Sendable {
    package let id: [UInt8]
    package let publicKey: COSEKey
    package let signCount: UInt32
    package let isBackupEligible: Bool
    package let isBackedUp: Bool
    /// The 16 bytes of the authenticator's model, or zeros.
    package let aaguid: [UInt8]
    package let transports: [String]
    package let attestation: AttestationKind
    /// Whether the authenticator verified the person.
    package let isUserVerified: Bool
    /// Whether the credential signs in without a name, or nil if the client did not report it.
    package let isDiscoverable: Bool?
}
