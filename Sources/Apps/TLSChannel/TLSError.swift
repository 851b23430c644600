package import Failures
internal import Identity

/// A failure of TLS: of a handshake, of a connection, or of the keys and certificates that it needs.
package enum TLSError: Error, Hashable, Sendable {
    /// No trusted authority issued the certificate of the server.
    case unknownAuthority
    /// A certificate of the server has expired; the seconds since 1970 at which it did, if they are known.
    case expired(endSeconds: UInt64?)
    /// A certificate of the server is not valid yet; the seconds since 1970 at which it will be, if they are known.
    case notYetValid(startSeconds: UInt64?)
    /// The certificate of the server names other hosts.
    case wrongName
    /// The authority revoked a certificate of the server.
    case revoked
    /// A certificate of the server has a key or a signature of less than 112 bits of security.
    case weakCertificate
    /// The certificates of the server are malformed, or for another purpose.
    case unfitCertificate
    /// The verified chain contains none of the pinned keys.
    case pinMismatch
    /// The first bytes of the peer are not TLS.
    case notTLS
    /// The peer supports none of the offered versions.
    case noCommonVersion
    /// The peer ended the connection with an alert.
    case refused(alert: String)
    /// The connection ended during the handshake.
    case disconnected
    /// The connection ended without the closing alert, so that the end may be missing.
    case truncated
    /// The handshake has more bytes than are read.
    case handshakeTooLarge(limit: Int)
    /// The handshake did not complete in time.
    case timedOut
    /// The key or the certificates of this program cannot be used.
    case badCredentials(reason: String)
    /// The authorities to be trusted cannot be read.
    case badRoots(reason: String)
    /// The text of a pin is not `sha256/` and the base64 text of 32 bytes.
    case badPin(text: String)
    /// Any other failure, in the words of the TLS library.
    case failed(reason: String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownAuthority:
            "no trusted authority issued the certificate of the server: another program may be intercepting the"
                + " connection (a sign-in page, a proxy, a virus scanner), or the server does not send its whole chain"
        case .expired(let seconds):
            "the certificate of the server has expired\(Self.time(" on ", seconds) ?? ""): check the clock of this"
                + " device; if it is right, the operator must renew the certificate"
        case .notYetValid(let seconds):
            "the certificate of the server is not valid\(Self.time(" before ", seconds) ?? " yet"): check the clock of"
                + " this device"
        case .wrongName:
            "the certificate of the server is for another name: check the address, and whether the network shows a"
                + " sign-in page first"
        case .revoked: "the authority revoked the certificate of the server: ask its operator"
        case .weakCertificate:
            "the certificate of the server has a weak key or signature: its operator must replace it"
        case .unfitCertificate:
            "the certificates of the server are malformed or made for another purpose: ask its operator"
        case .pinMismatch:
            "the server has none of the keys that are pinned for it (certificate pinning): another program may be"
                + " intercepting the connection, or this program must be updated because the keys have changed"
        case .notTLS:
            "the server does not use TLS at this port: check the port, and whether the network shows a sign-in page"
                + " first"
        case .noCommonVersion:
            "the two sides share no version of TLS: both must support TLS 1.2 or 1.3; update the older one"
        case .refused(let alert): "the peer refused the TLS connection: \(alert)"
        case .disconnected: "the peer ended the connection during the TLS handshake: check the address and the port"
        case .truncated: "the connection ended without the closing alert of TLS, so the end may be missing: try again"
        case .handshakeTooLarge(let limit):
            "the TLS handshake has more than \(limit) bytes: check the address, or ask the operator of the server"
        case .timedOut: "the TLS handshake took too long: check the network, and try again"
        case .badCredentials(let reason): "the key or the certificates cannot be used for TLS: \(reason)"
        case .badRoots(let reason):
            "the trusted certificates cannot be read: \(reason); install the certificates of the system"
                + " (`ca-certificates`), or give a file of certificates in PEM"
        case .badPin(let text):
            "\(PlainText.quoted(text)) is not a pin: write `sha256/` and the base64 text of 32 bytes"
        case .failed(let reason): "TLS failed: \(reason)"
        }
    }

    private static func time(_ before: String, _ seconds: UInt64?) -> String? {
        seconds.map { "\(before)\(CivilTime(seconds: $0))" }
    }
}

extension TLSError: CodedError {
    package var failureCode: FailureCode {
        switch self {
        case .unknownAuthority: FailureCode("tls-unknown-authority", .network, .unavailable)
        case .expired: FailureCode("tls-expired", .network, .unavailable)
        case .notYetValid: FailureCode("tls-not-yet-valid", .network, .unavailable)
        case .wrongName: FailureCode("tls-wrong-name", .network, .unavailable)
        case .pinMismatch: FailureCode("tls-pin-mismatch", .network, .unavailable)
        case .revoked, .weakCertificate, .unfitCertificate: FailureCode("tls-bad-certificate", .network, .unavailable)
        case .notTLS, .noCommonVersion, .refused, .handshakeTooLarge, .failed:
            FailureCode("tls-failed", .network, .unavailable)
        case .disconnected, .truncated: FailureCode("interrupted", .interrupted, .tryAgain)
        case .timedOut: FailureCode("timed-out", .timedOut, .tryAgain)
        case .badCredentials, .badRoots, .badPin: FailureCode("tls-setup", .network, .configuration)
        }
    }
}
