/// Why a certificate was refused or could not be made.
package enum NodeCertificateError: Error, Equatable, Sendable {
    /// The certificate is larger than any that a node makes; it was not looked at.
    case tooLong(limit: Int, found: Int)
    /// The bytes are not exactly one X.509 certificate.
    case malformed(reason: String)
    /// The certificate is for a key of another kind, or encodes it in another way than RFC 8410.
    case notEd25519
    /// The certificate's Ed25519 key is not one that could honestly be held.
    case unusableKey(reason: String)
    /// The text does not contain exactly one certificate between its BEGIN and END lines.
    case malformedText(reason: String)
    /// The dates are not in order, or not between the years 1950 and 9999.
    case invalidValidity
    /// The system's cryptography refused to sign.
    case signingFailed(reason: String)
    /// The request or certificate does not carry the one name that its key allows.
    case wrongName(expected: String)
    /// The request was not signed with the key that it asks a certificate for.
    case badProof
    /// The certificate that should be an authority's is none.
    case notAnAuthority(reason: String)
    /// The certificate was not issued by the authority that comes with it.
    case notIssued(reason: String)
}

extension NodeCertificateError: CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    package var description: String {
        switch self {
        case .tooLong(let limit, let found):
            "this certificate has \(found) bytes; at most \(limit) are read"
        case .malformed(let reason):
            "this is not exactly one X.509 certificate: \(reason)"
        case .notEd25519:
            "this certificate is not for an Ed25519 key; nodes use no other"
        case .unusableKey(let reason):
            "the key in this certificate is not usable: \(reason)"
        case .malformedText(let reason):
            "this text is not exactly one certificate in PEM: \(reason); copy it with its BEGIN and END lines"
        case .invalidValidity:
            "a certificate's dates must be in order and between the years 1950 and 9999"
        case .signingFailed(let reason):
            "the certificate could not be signed: \(reason)"
        case .wrongName(let expected):
            "the name in it is not \(expected), which is the only one that its key allows"
        case .badProof:
            "this certificate request was not signed with its own key: it was changed, or belongs to another device"
        case .notAnAuthority(let reason):
            "this is not the certificate of an authority: \(reason)"
        case .notIssued(let reason):
            "the certificate was not issued by the authority that comes with it: \(reason)"
        }
    }
}
