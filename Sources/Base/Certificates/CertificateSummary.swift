package import Essentials
package import Identity
internal import SwiftASN1
internal import X509

/// The content of a certificate, for people; nothing in it is checked but the signature of a self-signed one.
///
/// The creator of the certificate chooses the names, which may contain anything: escape them before they reach a terminal.
package struct CertificateSummary: Sendable, Equatable {
    /// The most bytes of a certificate; those of other programs are larger than ours.
    package static let maximumByteCount = 65_536

    /// The subject, in the notation of RFC 4514.
    package let subject: String
    /// The issuer, in the notation of RFC 4514.
    package let issuer: String
    /// The serial number, most significant byte first.
    package let serialNumber: [UInt8]
    /// The first moment at which it claims to be valid.
    package let notValidBefore: Date
    /// The last moment at which it claims to be valid.
    package let notValidAfter: Date
    /// The kind of key, such as `Ed25519` or `P256`.
    package let keyKind: String
    /// The PeerId of the key, if the key is one that a node can have.
    package let peerId: PeerId?
    /// Whether subject and issuer are the same and the certificate's own key signed it.
    package let isSelfSigned: Bool

    /// Reads exactly one certificate in DER.
    package init(der bytes: some Collection<UInt8>) throws(NodeCertificateError) {
        let parsed = try ParsedCertificate(ParsedCertificate.bounded(bytes, limit: Self.maximumByteCount))
        let certificate = parsed.certificate
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        serialNumber = [UInt8](certificate.serialNumber.bytes)
        notValidBefore = certificate.notValidBefore
        notValidAfter = certificate.notValidAfter
        keyKind = certificate.publicKey.description.split(separator: ".").first.map(String.init) ?? "unknown"
        isSelfSigned =
            certificate.subject == certificate.issuer
            && certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
        if let key = parsed.ed25519KeyBytes {
            // A key that is not a valid node key has no PeerId.
            peerId = (try? Ed25519PublicKey(rawRepresentation: key)).map(PeerId.init(publicKey:))  // absent, not wrong
        } else {
            peerId = nil
        }
    }

    /// Reads exactly one certificate in PEM.
    package init(pem text: String) throws(NodeCertificateError) {
        try self.init(der: CertificateText.decode(text))
    }
}

/// Certificates in PEM (RFC 7468).
package enum CertificateText {
    private static let label = "CERTIFICATE"
    /// Base64 makes 4 characters of 3 bytes and a line end follows every 64; as much again for remarks around it.
    private static let maximumByteCount = CertificateSummary.maximumByteCount * 3

    /// The text for a certificate in DER.
    package static func encode(_ der: [UInt8]) -> String {
        PEMDocument(type: label, derBytes: der).pemString + "\n"
    }

    /// The bytes between the BEGIN and END lines of the only certificate in `text`; other text around it is skipped.
    package static func decode(_ text: String) throws(NodeCertificateError) -> [UInt8] {
        guard text.utf8.count <= maximumByteCount else {
            throw .tooLong(limit: maximumByteCount, found: text.utf8.count)
        }
        do {
            let document = try PEMDocument(pemString: text)
            guard document.discriminator == label else {
                throw NodeCertificateError.malformedText(reason: "the BEGIN line names another type")
            }
            return document.derBytes
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .malformedText(reason: "\(error)")
        }
    }
}
