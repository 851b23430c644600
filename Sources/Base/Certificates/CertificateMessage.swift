internal import Bytes
internal import Crypto
package import Identity
internal import X509

/// The message with a device's certificate: the certificate, the authority's own, and a signature over the pair.
///
/// The signature binds the two beyond what X.509 does: neither can be replaced by another certificate of the same
/// authority, or by one of the same key with other limits. Every value of this type has passed all checks but the one
/// of the date. Layout: `docs/spec/devices.md`, section 3.
package struct CertificateMessage: Hashable, Sendable {
    /// The most bytes of each certificate; ours have fewer than 600.
    package static let maximumCertificateByteCount = 1_536
    /// The most bytes of a message.
    package static let maximumByteCount = 1 + 2 * (2 + maximumCertificateByteCount) + Ed25519Signature.byteCount
    private static let version: UInt8 = 1
    private static let label = DomainLabel("runar/certificate-message/v1")

    /// The device's certificate.
    package let certificateDER: [UInt8]
    /// The authority's own certificate.
    package let authorityDER: [UInt8]
    /// The device's key.
    package let publicKey: Ed25519PublicKey
    /// The authority's key, by which it is known.
    package let authority: Ed25519PublicKey
    /// The last second since 1970 in which the certificate is good.
    package let endSeconds: UInt64
    /// The first one.
    package let startSeconds: UInt64
    private let signature: [UInt8]

    /// The device.
    package var peerId: PeerId { PeerId(publicKey: publicKey) }

    /// Reads and checks a message.
    package init(binary bytes: some Collection<UInt8>) throws(NodeCertificateError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw .tooLong(limit: Self.maximumByteCount, found: bytes.count)
        }
        var reader = ByteReader(bytes)
        let parts: (node: [UInt8], authority: [UInt8], signature: [UInt8])
        do {
            let version = try reader.readUInt8()
            guard version == Self.version else {
                throw NodeCertificateError.malformed(
                    reason: "its version is \(version), this program knows version \(Self.version)"
                )
            }
            parts.node = try reader.readBytes(count: Int(reader.readUInt16()))
            parts.authority = try reader.readBytes(count: Int(reader.readUInt16()))
            parts.signature = try reader.readBytes(count: Ed25519Signature.byteCount)
            try reader.finish()
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .malformed(reason: "\(error)")
        }
        try self.init(certificateDER: parts.node, authorityDER: parts.authority, signature: parts.signature)
    }

    init(certificateDER: [UInt8], authorityDER: [UInt8], signature: [UInt8]) throws(NodeCertificateError) {
        let limit = Self.maximumCertificateByteCount
        let own = try ParsedCertificate(ParsedCertificate.bounded(authorityDER, limit: limit))
        let node = try ParsedCertificate(ParsedCertificate.bounded(certificateDER, limit: limit))
        authority = try ParsedCertificate.publicKey(own.ed25519KeyBytes)
        publicKey = try ParsedCertificate.publicKey(node.ed25519KeyBytes)
        try Self.checkAuthority(own.certificate, key: authority)
        try Self.check(node.certificate, of: publicKey, issuedBy: own.certificate)
        let signed = Self.signedBytes(node: certificateDER, authority: authorityDER)
        guard authority.isValidSignature(signature, for: signed) else {
            throw .notIssued(reason: "the two do not belong together")
        }
        self.certificateDER = certificateDER
        self.authorityDER = authorityDER
        self.signature = signature
        startSeconds = UnixTime.clampedSeconds(of: node.certificate.notValidBefore)
        endSeconds = UnixTime.clampedSeconds(of: node.certificate.notValidAfter)
    }

    /// Whether the certificate is good at `seconds` since 1970.
    package func isInForce(at seconds: UInt64) -> Bool { seconds >= startSeconds && seconds <= endSeconds }

    /// The binary form: version, both certificates behind their lengths, signature.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: Self.maximumByteCount)
        writer.write(Self.version)
        for certificate in [certificateDER, authorityDER] {
            writer.write(UInt16(certificate.count))
            writer.write(certificate)
        }
        writer.write(signature)
        return writer.bytes
    }

    /// Label, SHA-256 of the device's certificate, SHA-256 of the authority's.
    static func signedBytes(node: [UInt8], authority: [UInt8]) -> [UInt8] {
        label.message(Array(SHA256.hash(data: node)), Array(SHA256.hash(data: authority)))
    }

    private static func checkAuthority(
        _ certificate: Certificate,
        key: Ed25519PublicKey
    ) throws(NodeCertificateError) {
        do {
            guard case .isCertificateAuthority? = try certificate.extensions.basicConstraints,
                try certificate.extensions.keyUsage?.keyCertSign == true
            else { throw NodeCertificateError.notAnAuthority(reason: "it may not sign certificates") }
            guard try certificate.subject == CertificateAuthority.name(of: key),
                certificate.issuer == certificate.subject
            else { throw NodeCertificateError.notAnAuthority(reason: "its name is not that of its key") }
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .malformed(reason: "\(error)")
        }
        guard certificate.publicKey.isValidSignature(certificate.signature, for: certificate) else {
            throw .notAnAuthority(reason: "its signature is not its own")
        }
    }

    private static func check(
        _ certificate: Certificate,
        of key: Ed25519PublicKey,
        issuedBy authority: Certificate
    ) throws(NodeCertificateError) {
        guard certificate.isIssued(by: authority) else {
            throw .notIssued(reason: "it names another issuer, or the signature is not the issuer's")
        }
        do {
            guard case .notCertificateAuthority? = try certificate.extensions.basicConstraints,
                try certificate.extensions.keyUsage?.digitalSignature == true
            else { throw NodeCertificateError.notIssued(reason: "it is not made for a device") }
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .malformed(reason: "\(error)")
        }
        try NodeNames.check(certificate.subject, certificate.extensions, of: PeerId(publicKey: key))
    }
}
