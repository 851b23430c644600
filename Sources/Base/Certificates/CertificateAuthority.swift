internal import Crypto
internal import Essentials
package import Identity
internal import SwiftASN1
internal import X509

/// A person's certificate authority: a key derived from the root, which certifies the person's devices.
///
/// It is derived from the root whenever it is needed and never stored. Its own certificate is always equal except for the
/// signature: name, serial number and dates follow from the key.
package struct CertificateAuthority: Sendable {
    /// The default validity of a device's certificate: a year.
    package static let standardLifeSeconds: UInt64 = 365 * 86_400

    private let key: Ed25519KeyPair

    /// Derives the authority from a person's root key.
    package init(masterKey: Ed25519PrivateKey) {
        key = KeyDerivation.deriveCertificateAuthorityKey(masterKey: masterKey)
    }

    /// The key that signs certificates.
    package var publicKey: Ed25519PublicKey { key.publicKey }

    /// Issues a certificate for the device that made `request`, valid until `endSeconds` since 1970.
    ///
    /// Its validity begins in the year 2000: this does not disclose when the device was set up, and a clock that is slow
    /// does not refuse it.
    package func issue(
        for request: CertificateRequest,
        until endSeconds: UInt64,
        using random: inout some RandomNumberGenerator
    ) throws(NodeCertificateError) -> CertificateMessage {
        let end = UnixTime.date(endSeconds)
        guard endSeconds <= UnixTime.maximum, NodeCertificate.unlimited.contains(end) else { throw .invalidValidity }
        let bytes = (0..<NodeCertificate.serialByteCount).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
        do {
            let node = try certificate(for: request, until: end, serial: NodeCertificate.serialNumber(from: bytes))
            let own = try certificate()
            let (nodeDER, ownDER) = (try Self.der(node), try Self.der(own))
            let signature = try key.privateKey.sign(CertificateMessage.signedBytes(node: nodeDER, authority: ownDER))
            return try CertificateMessage(certificateDER: nodeDER, authorityDER: ownDER, signature: signature)
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .signingFailed(reason: "\(error)")
        }
    }

    /// The authority's own certificate.
    private func certificate() throws -> Certificate {
        let signer = try key.privateKey.signer()
        let name = try Self.name(of: key.publicKey)
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(
                bytes: NodeCertificate.serialNumber(from: Array(Self.id(of: key.publicKey).prefix(16)))
            ),
            publicKey: Certificate.PublicKey(signer.publicKey),
            notValidBefore: NodeCertificate.unlimited.lowerBound,
            notValidAfter: NodeCertificate.unlimited.upperBound,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ed25519,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(keyIdentifier: Self.id(of: key.publicKey))
            },
            issuerPrivateKey: Certificate.PrivateKey(signer)
        )
    }

    private func certificate(for request: CertificateRequest, until end: Date, serial: [UInt8]) throws -> Certificate {
        let signer = try key.privateKey.signer()
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(bytes: serial),
            publicKey: Certificate.PublicKey(Curve25519.Signing.PublicKey(rawRepresentation: request.publicKey.bytes)),
            notValidBefore: NodeCertificate.unlimited.lowerBound,
            notValidAfter: end,
            issuer: Self.name(of: key.publicKey),
            subject: NodeNames.subject(of: request.peerId),
            signatureAlgorithm: .ed25519,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth, .clientAuth])
                NodeNames.alternatives(of: request.peerId)
                SubjectKeyIdentifier(keyIdentifier: Self.id(of: request.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: Self.id(of: key.publicKey))
            },
            issuerPrivateKey: Certificate.PrivateKey(signer)
        )
    }

    /// Returns the name of an authority: libraries look for issuers by name, so every person has another one.
    static func name(of key: Ed25519PublicKey) throws -> DistinguishedName {
        try DistinguishedName { CommonName("runar \(PeerId(publicKey: key).short)") }
    }

    /// The identifier of a key in certificates: the first 20 bytes of its SHA-256 (RFC 7093, section 2, over the key).
    private static func id(of key: Ed25519PublicKey) -> ArraySlice<UInt8> {
        PeerId(publicKey: key).bytes.prefix(20)
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
