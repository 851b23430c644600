internal import Certificates

/// A signature algorithm by its number in the IANA registry of COSE.
package enum COSEAlgorithm: Int64, Codable, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = -7
    /// Ed25519.
    case eddsa = -8
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = -257
}

extension COSEAlgorithm {
    var ofCertificate: AttestationCertificate.Algorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        case .rs256: .rs256
        }
    }
}
