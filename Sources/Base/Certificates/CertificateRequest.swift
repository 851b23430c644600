internal import Crypto
package import Identity
internal import SwiftASN1
internal import X509

/// A device's request for a certificate: PKCS #10 (RFC 2986), signed with the peer key that it is about.
///
/// The signature proves that the requester holds the key, and the name in it is bound to the key, so a device can ask
/// neither for a certificate of another's key nor for another's name. Every value of this type has passed both checks.
package struct CertificateRequest: Hashable, Sendable {
    /// The most bytes of a request; ours have about 290, and it must fit a link.
    package static let maximumByteCount = 350

    /// The request in DER.
    package let der: [UInt8]
    /// The key that it asks a certificate for, and that signed it.
    package let publicKey: Ed25519PublicKey

    /// The device that asks.
    package var peerId: PeerId { PeerId(publicKey: publicKey) }

    /// Asks for a certificate of `key`.
    package init(for key: Ed25519PrivateKey) throws(NodeCertificateError) {
        let peer = PeerId(publicKey: key.publicKey)
        do {
            let names = try Certificate.Extensions { NodeNames.alternatives(of: peer) }
            let request = try CertificateSigningRequest(
                version: .v1,
                subject: NodeNames.subject(of: peer),
                privateKey: Certificate.PrivateKey(key.signer()),
                attributes: CertificateSigningRequest.Attributes([.init(ExtensionRequest(extensions: names))]),
                signatureAlgorithm: .ed25519
            )
            var serializer = DER.Serializer()
            try serializer.serialize(request)
            der = serializer.serializedBytes
        } catch {
            throw .signingFailed(reason: "\(error)")
        }
        publicKey = key.publicKey
    }

    /// Reads and checks exactly one request in DER.
    ///
    /// Other requested extensions and attributes are not granted, and therefore ignored.
    package init(der bytes: some Collection<UInt8>) throws(NodeCertificateError) {
        let bytes = try ParsedCertificate.bounded(bytes, limit: Self.maximumByteCount)
        let request: CertificateSigningRequest
        let key: [UInt8]?
        let extensions: Certificate.Extensions
        do {
            let root = try DER.parse(bytes)
            request = try CertificateSigningRequest(derEncoded: root)
            key = ParsedCertificate.ed25519KeyBytes(of: try Self.keyNode(of: root).encodedBytes)
            extensions = try request.attributes.extensionRequest?.extensions ?? Certificate.Extensions()
        } catch {
            throw .malformed(reason: "\(error)")
        }
        publicKey = try ParsedCertificate.publicKey(key)
        der = bytes
        guard request.publicKey.isValidSignature(request.signature, for: request) else { throw .badProof }
        try NodeNames.check(request.subject, extensions, of: PeerId(publicKey: publicKey))
    }

    /// The subjectPublicKeyInfo of the request: after version and subject (RFC 2986, section 4.1).
    private static func keyNode(of root: ASN1Node) throws -> ASN1Node {
        try DER.sequence(root, identifier: .sequence) { fields in
            guard let signed = fields.next() else { throw ASN1Error.invalidASN1Object(reason: "no signed part") }
            while fields.next() != nil {}
            return try DER.sequence(signed, identifier: .sequence) { fields in
                for _ in 0..<2 { _ = fields.next() }
                guard let key = fields.next() else { throw ASN1Error.invalidASN1Object(reason: "no public key") }
                while fields.next() != nil {}
                return key
            }
        }
    }
}
