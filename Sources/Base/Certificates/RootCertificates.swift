internal import Crypto
internal import SwiftASN1
internal import X509

/// The roots that an operator trusts for one purpose, from a file in PEM or DER.
///
/// Their self-signatures and dates are not checked here: a root is trusted since the operator gives it, and
/// ``ChainPolicy`` checks its dates with those of the chain.
package struct RootCertificates: Sendable {
    /// The most roots of a file.
    package static let maximumCount = 8
    /// The most bytes of a file.
    package static let maximumByteCount = 65_536
    private static let certificateLabel = "CERTIFICATE"
    /// The first byte of a certificate in DER: a sequence.
    private static let sequenceTag: UInt8 = 0x30

    /// The certificates in the order of the file.
    internal let certificates: [Certificate]
    /// The SHA-256 digests of the certificates in DER, which authorities publish as fingerprints.
    package let digests: [[UInt8]]

    /// Reads a file with one certificate in DER, or with 1 to ``maximumCount`` certificates in PEM.
    package init(file bytes: [UInt8]) throws(RootCertificatesError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw .tooLong(limit: Self.maximumByteCount, found: bytes.count)
        }
        try self.init(der: bytes.first == Self.sequenceTag ? [bytes] : Self.documents(of: bytes))
    }

    /// Reads 1 to ``maximumCount`` certificates in DER.
    package init(der roots: [[UInt8]]) throws(RootCertificatesError) {
        guard !roots.isEmpty else { throw .noCertificate }
        guard roots.count <= Self.maximumCount else { throw .tooMany(limit: Self.maximumCount) }
        var parsed: [Certificate] = []
        for bytes in roots {
            let certificate: Certificate
            let isAuthority: Bool
            do {
                let bounded = try ParsedCertificate.bounded(bytes, limit: ChainPolicy.maximumCertificateByteCount)
                certificate = try ParsedCertificate(bounded).certificate
                isAuthority = try Self.isAuthority(certificate)
            } catch {
                throw .malformed(reason: "certificate \(parsed.count + 1): \(error)")
            }
            guard isAuthority else { throw .notAnAuthority(position: parsed.count + 1) }
            parsed.append(certificate)
        }
        certificates = parsed
        digests = roots.map { Array(SHA256.hash(data: $0)) }
    }

    private static func documents(of bytes: [UInt8]) throws(RootCertificatesError) -> [[UInt8]] {
        do {
            let documents = try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
            return documents.filter { $0.discriminator == certificateLabel }.map(\.derBytes)
        } catch {
            throw .malformed(reason: "\(error)")
        }
    }

    private static func isAuthority(_ certificate: Certificate) throws -> Bool {
        switch try certificate.extensions.basicConstraints {
        case .isCertificateAuthority?: true
        case .notCertificateAuthority?, nil: false
        }
    }
}
