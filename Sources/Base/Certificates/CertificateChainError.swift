package import Failures
internal import Identity

/// A problem with the certificate files of an operator.
package enum CertificateChainError: Error, Hashable, Sendable {
    /// One of the two files.
    package enum Part: Hashable, Sendable {
        case certificates
        case key

        fileprivate var name: String { self == .certificates ? "the file of the certificates" : "the file of the key" }
        fileprivate var example: String { self == .certificates ? "fullchain.pem" : "privkey.pem" }
    }

    /// A file is larger than any that an authority gives out.
    case tooLong(Part, limit: Int, found: Int)
    /// A file is not text in PEM, or a certificate in it is not valid DER.
    case malformed(Part, reason: String)
    /// The file of the chain has no certificate.
    case noCertificate
    case tooManyCertificates(limit: Int)
    /// The file of the key has no private key.
    case noKey
    case encryptedKey
    /// Neither P-256, P-384 nor RSA of at least 2048 bits.
    case unsupportedKey(reason: String)
    /// The key is that of no certificate in the chain.
    case otherKey
    /// The key is that of a certificate, counted from 1, that is not the first.
    case leafNotFirst(position: Int)
    /// The certificate at a position, counted from 1, was not issued by the one behind it.
    case notInOrder(position: Int)
    /// The certificate at a position, counted from 1, has expired.
    case expired(position: Int, endSeconds: UInt64)
    /// The certificate at a position, counted from 1, is not valid yet.
    case notYetValid(position: Int, startSeconds: UInt64)
}

extension CertificateChainError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let part, let limit, let found):
            "\(part.name) has \(found) bytes, and at most \(limit) are read: give the files of one server"
        case .malformed(let part, let reason):
            "\(part.name) cannot be read (\(reason)): give the unchanged file in PEM (\(part.example))"
        case .noCertificate:
            "the file of the certificates has none: give the file with `BEGIN CERTIFICATE` (fullchain.pem)"
        case .tooManyCertificates(let limit):
            "the file has more than \(limit) certificates: keep the certificate of the server and the intermediate ones"
        case .noKey: "the file of the key has no private key: give the file with `BEGIN PRIVATE KEY` (privkey.pem)"
        case .encryptedKey:
            "the private key is encrypted with a passphrase: decrypt it with `openssl pkey -in FILE -out NEW`"
        case .unsupportedKey(let reason):
            "the private key cannot be used (\(reason)): request a certificate for a key of P-256, P-384 or"
                + " RSA with at least 2048 bits"
        case .otherKey: "the private key is not that of the certificate: give the two files of one certificate"
        case .leafNotFirst(let position):
            "certificate \(position) of the file belongs to the private key: it must be the first, before the"
                + " intermediate ones"
        case .notInOrder(let position):
            "certificate \(position) of the file was not issued by the next one: sort the file so that every"
                + " certificate precedes its issuer"
        case .expired(let position, let seconds):
            "certificate \(position) of the file expired on \(CivilTime(seconds: seconds)): renew it, or check the"
                + " clock"
        case .notYetValid(let position, let seconds):
            "certificate \(position) of the file is not valid before \(CivilTime(seconds: seconds)): check the clock"
        }
    }
}

extension CertificateChainError {
    /// The file that must be changed.
    package var part: Part {
        switch self {
        case .tooLong(let part, _, _), .malformed(let part, _): part
        case .noKey, .encryptedKey, .unsupportedKey, .otherKey: .key
        case .noCertificate, .tooManyCertificates, .leafNotFirst, .notInOrder, .expired, .notYetValid: .certificates
        }
    }
}

extension CertificateChainError: CodedError {
    package var failureCode: FailureCode {
        switch self {
        case .expired, .notYetValid: FailureCode("certificate-out-of-date", .unknown, .configuration)
        case .tooLong, .malformed, .noCertificate, .tooManyCertificates, .noKey, .encryptedKey, .unsupportedKey,
            .otherKey, .leafNotFirst, .notInOrder:
            FailureCode("bad-certificate-files", .unknown, .configuration)
        }
    }
}
