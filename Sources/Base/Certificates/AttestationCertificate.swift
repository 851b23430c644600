internal import Crypto
internal import SwiftASN1
internal import X509

/// The certificate of an authenticator's attestation key (Web Authentication Level 3, section 8.2.1), of which the
/// fields are read and none is judged.
///
/// Its chain and dates are not verified: without a list of manufacturers' roots, it only states a manufacturer.
package struct AttestationCertificate: Sendable {
    /// The most bytes of a certificate; those of security keys have about 700.
    package static let maximumByteCount = 8_192
    /// Size of an AAGUID in bytes.
    package static let aaguidByteCount = 16

    /// The algorithms of attestation signatures.
    package enum Algorithm: Sendable {
        /// ECDSA on P-256 with SHA-256, in DER.
        case es256
        /// Ed25519.
        case eddsa
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256
    }

    /// The extension id-fido-gen-ce-aaguid.
    package enum ModelExtension: Hashable, Sendable {
        case absent
        /// The extension is marked critical, or its value is not an octet string of 16 bytes.
        case invalid
        case aaguid([UInt8])
    }

    /// Whether the certificate is of version 3.
    package let isVersion3: Bool
    /// The country of the subject, or nil unless it has exactly one.
    package let country: String?
    /// The organization of the subject, or nil unless it has exactly one.
    package let organization: String?
    /// The organizational unit of the subject, or nil unless it has exactly one.
    package let organizationalUnit: String?
    /// The common name of the subject, or nil unless it has exactly one.
    package let commonName: String?
    /// Whether the basic constraints make it an authority, or nil without valid basic constraints.
    package let isAuthority: Bool?
    /// The model of the authenticator.
    package let modelExtension: ModelExtension

    private let publicKey: Certificate.PublicKey

    /// Reads exactly one certificate in DER.
    package init(der bytes: some Collection<UInt8>) throws(NodeCertificateError) {
        let bytes = try ParsedCertificate.bounded(bytes, limit: Self.maximumByteCount)
        let certificate: Certificate
        do {
            certificate = try Certificate(derEncoded: bytes)
        } catch {
            throw .malformed(reason: "\(error)")
        }
        isVersion3 = certificate.version == .v3
        let subject = certificate.subject
        country = Self.text(of: .NameAttributes.countryName, in: subject)
        organization = Self.text(of: .NameAttributes.organizationName, in: subject)
        organizationalUnit = Self.text(of: .NameAttributes.organizationalUnitName, in: subject)
        commonName = Self.text(of: .NameAttributes.commonName, in: subject)
        isAuthority = Self.isAuthority(certificate.extensions)
        modelExtension = Self.modelExtension(of: certificate.extensions)
        publicKey = certificate.publicKey
    }

    /// Whether `signature` is the certified key's over exactly `message`; a key of another algorithm has no signature.
    package func isValidSignature(_ signature: [UInt8], for message: [UInt8], by algorithm: Algorithm) -> Bool {
        let signatureAlgorithm: Certificate.SignatureAlgorithm =
            switch algorithm {
            case .es256: .ecdsaWithSHA256
            case .eddsa: .ed25519
            case .rs256: .sha256WithRSAEncryption
            }
        // Other curves are refused, which X.509 allows with SHA-256.
        if algorithm == .es256, P256.Signing.PublicKey(publicKey) == nil { return false }
        return publicKey.isValidSignature(signature, for: message, signatureAlgorithm: signatureAlgorithm)
    }

    private static func text(of type: ASN1ObjectIdentifier, in name: DistinguishedName) -> String? {
        let values = name.flatMap { $0 }.filter { $0.type == type }
        guard values.count == 1, let value = values.first else { return nil }
        return String(value.value)
    }

    private static func isAuthority(_ extensions: Certificate.Extensions) -> Bool? {
        guard let basic = try? extensions.basicConstraints else { return nil }  // malformed is as bad as absent
        switch basic {
        case .isCertificateAuthority: return true
        case .notCertificateAuthority: return false
        }
    }

    private static let modelIdentifier: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4]

    private static func modelExtension(of extensions: Certificate.Extensions) -> ModelExtension {
        guard let found = extensions[oid: modelIdentifier] else { return .absent }
        do {
            let content = try ASN1OctetString(derEncoded: found.value)
            guard !found.critical, content.bytes.count == aaguidByteCount else { return .invalid }
            return .aaguid([UInt8](content.bytes))
        } catch {
            return .invalid
        }
    }
}
