package import Failures

/// A problem with an operator's file of pinned roots.
package enum RootCertificatesError: Error, Hashable, Sendable {
    /// The file is larger than any with a few roots.
    case tooLong(limit: Int, found: Int)
    /// The file is neither a certificate in DER nor text in PEM, or a certificate in it is damaged.
    case malformed(reason: String)
    case noCertificate
    case tooMany(limit: Int)
    /// The certificate at a position, counted from 1, may not issue certificates.
    case notAnAuthority(position: Int)
}

extension RootCertificatesError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let limit, let found):
            "the file of the root certificates has \(found) bytes, and at most \(limit) are read: give the roots alone"
        case .malformed(let reason):
            "the file of the root certificates cannot be read (\(reason)): give the unchanged file in DER or PEM"
        case .noCertificate:
            "the file of the root certificates has none: give one in DER, or text with `BEGIN CERTIFICATE`"
        case .tooMany(let limit): "the file has more than \(limit) root certificates: keep those of one authority"
        case .notAnAuthority(let position):
            "certificate \(position) of the file is not one of an authority: give the root, not a certificate below it"
        }
    }
}

extension RootCertificatesError: CodedError {
    package var failureCode: FailureCode { FailureCode("bad-root-certificates", .unknown, .configuration) }
}
