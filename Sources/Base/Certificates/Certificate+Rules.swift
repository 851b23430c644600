internal import Identity
internal import X509

/// The rules that every check of a chain shares.
extension Certificate {
    /// The result of comparing a time with the dates of a certificate.
    internal enum Validity: Equatable {
        case valid
        case expired(endSeconds: UInt64)
        case notYetValid(startSeconds: UInt64)
    }

    /// Whether `issuer` has the name that this certificate gives its issuer, and the key that signed it.
    internal func isIssued(by issuer: Certificate) -> Bool {
        self.issuer == issuer.subject && issuer.publicKey.isValidSignature(signature, for: self)
    }

    /// Compares `seconds` since 1970 with the dates; both ends are valid (RFC 5280, section 4.1.2.5).
    internal func validity(at seconds: UInt64) -> Validity {
        let end = UnixTime.clampedSeconds(of: notValidAfter)
        let start = UnixTime.clampedSeconds(of: notValidBefore)
        if seconds > end { return .expired(endSeconds: end) }
        return seconds < start ? .notYetValid(startSeconds: start) : .valid
    }
}
