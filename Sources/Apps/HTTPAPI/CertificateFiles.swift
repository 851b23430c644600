internal import Bytes
package import Certificates
package import Failures
package import Platform

/// The files of a certificate chain and its key, as certbot writes them: fullchain.pem and privkey.pem.
///
/// Read them again after a renewal (``WatchedFiles``), and give the chain to ``HTTPServer/replaceCertificate(with:)``.
package struct CertificateFiles: Hashable, Sendable {
    package let certificatesPath: String
    package let keyPath: String

    package init(certificatesPath: String, keyPath: String) {
        self.certificatesPath = certificatesPath
        self.keyPath = keyPath
    }

    /// The paths of both files.
    package var paths: [String] { [certificatesPath, keyPath] }

    /// Reads both files, whose certificates must be good at `seconds` since 1970.
    ///
    /// - Throws: ``CertificateFilesError``.
    package func read(at seconds: UInt64) throws(CertificateFilesError) -> CertificateChain {
        let certificates = try bytes(certificatesPath, limit: CertificateChain.maximumTextByteCount)
        var key = try bytes(keyPath, limit: CertificateChain.maximumKeyTextByteCount)
        do {
            return try CertificateChain(
                certificates: String(decoding: certificates, as: UTF8.self),
                key: SecretBytes(consuming: &key),
                at: seconds
            )
        } catch {
            throw .unusable(path: error.part == .key ? keyPath : certificatesPath, error)
        }
    }

    private func bytes(_ path: String, limit: Int) throws(CertificateFilesError) -> [UInt8] {
        let bytes: [UInt8]?
        do {
            bytes = try AtomicFile.read(named: path, limit: limit)
        } catch {
            throw .unreadable(error)
        }
        guard let bytes else { throw .missing(path: path) }
        return bytes
    }
}

/// A problem with the certificate files of a server.
package enum CertificateFilesError: Error, Hashable, Sendable {
    /// No file has this path.
    case missing(path: String)
    case unreadable(FileError)
    case unusable(path: String, CertificateChainError)
}

extension CertificateFilesError: CodedError, CustomStringConvertible {
    package var failureCode: FailureCode {
        switch self {
        case .missing: FailureCode("no-certificate-file", .io, .noInput)
        case .unreadable(let error): error.failureCode
        case .unusable(_, let error): error.failureCode
        }
    }

    package var subject: String {
        switch self {
        case .missing(let path), .unusable(let path, _): path
        case .unreadable(let error): error.path
        }
    }

    package var description: String {
        switch self {
        case .missing(let path): "\(Terminal.quoted(path)) does not exist: check the path, and whether certbot has run"
        case .unreadable(let error): "\(error)"
        case .unusable(let path, let error): "\(Terminal.quoted(path)): \(error)"
        }
    }
}
