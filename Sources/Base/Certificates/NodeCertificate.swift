package import Bytes
internal import Crypto
package import Essentials
package import Identity
internal import SwiftASN1
internal import X509

/// The X.509 certificate with which a node presents its peer key in TLS.
///
/// TLS requires a certificate; only its key is used. The certificate is self-signed, and its names and dates are constant
/// and ignored. TLS proves that the peer holds the private key, ``publicKey(fromDER:)`` extracts the public key, and the
/// SHA-256 of that is the PeerId.
package struct NodeCertificate: Sendable {
    /// The most bytes of a certificate that a peer may send; ours have about 300.
    package static let maximumByteCount = 4_096
    /// From the year 2000 to the last second that X.509 can state, which RFC 5280 reads as "no end".
    ///
    /// Dates that never change give away neither when a node was set up nor that its clock is wrong.
    package static let unlimited =
        Date(timeIntervalSince1970: 946_684_800)...Date(timeIntervalSince1970: 253_402_300_799)

    /// The common name of every node, since names decide nothing.
    private static let commonName = "runar"
    /// A random serial number of 126 bits: RFC 5280 wants it positive and below 2^159.
    static let serialByteCount = 16
    /// The years 1950 to 9999, which X.509 can state.
    static let expressible =
        Date(timeIntervalSince1970: -631_152_000)...Date(timeIntervalSince1970: 253_402_300_799)

    /// The certificate.
    package let certificateDER: [UInt8]
    /// The private key in PKCS #8, version 1 (RFC 8410, section 7).
    package let privateKeyDER: SecretBytes

    /// Makes a certificate for `key`, signed by `key`.
    package static func selfSigned(
        for key: Ed25519PrivateKey,
        validity: ClosedRange<Date> = unlimited,
        using random: inout some RandomNumberGenerator
    ) throws(NodeCertificateError) -> NodeCertificate {
        guard expressible.contains(validity.lowerBound), expressible.contains(validity.upperBound) else {
            throw .invalidValidity
        }
        let serial = serialNumber(from: (0..<serialByteCount).map { _ in .random(in: .min ... .max, using: &random) })
        do {
            let certificate = try certificate(for: key, validity: validity, serial: serial)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return NodeCertificate(certificateDER: serializer.serializedBytes, privateKeyDER: key.pkcs8)
        } catch {
            throw .signingFailed(reason: "\(error)")
        }
    }

    /// Makes a certificate for `key`, signed by `key`, with a serial number from the system.
    package static func selfSigned(for key: Ed25519PrivateKey) throws(NodeCertificateError) -> NodeCertificate {
        var random = SystemRandomNumberGenerator()
        return try selfSigned(for: key, using: &random)
    }

    /// Extracts the key from a peer's certificate.
    ///
    /// The bytes must be exactly one certificate in DER with an Ed25519 key in the one encoding of RFC 8410. Names, dates,
    /// extensions and the certificate's own signature are ignored, because none of them identifies the peer.
    package static func publicKey(
        fromDER bytes: some Collection<UInt8>
    ) throws(NodeCertificateError) -> Ed25519PublicKey {
        let bytes = try ParsedCertificate.bounded(bytes, limit: maximumByteCount)
        return try ParsedCertificate.publicKey(ParsedCertificate(bytes).ed25519KeyBytes)
    }

    /// Makes 16 bytes a serial number: positive, and always of full length.
    static func serialNumber(from bytes: [UInt8]) -> [UInt8] {
        var serial = bytes
        serial[0] = serial[0] & 0x7F | 0x40
        return serial
    }

    private static func certificate(
        for key: Ed25519PrivateKey,
        validity: ClosedRange<Date>,
        serial: [UInt8]
    ) throws -> Certificate {
        let signer = try key.signer()
        let name = try DistinguishedName { CommonName(commonName) }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(bytes: serial),
            publicKey: Certificate.PublicKey(signer.publicKey),
            notValidBefore: validity.lowerBound,
            notValidAfter: validity.upperBound,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ed25519,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth, .clientAuth])
            },
            issuerPrivateKey: Certificate.PrivateKey(signer)
        )
    }
}

extension Ed25519PrivateKey {
    /// The bytes before the 32 bytes of every Ed25519 key in PKCS #8: version 0, id-Ed25519, two octet strings.
    private static let pkcs8Prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// The key in the words of the certificate library.
    func signer() throws -> Curve25519.Signing.PrivateKey {
        try unsafe secret.withUnsafeBytes { bytes in try unsafe Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        }
    }

    /// The key in PKCS #8, version 1, in DER.
    package var pkcs8: SecretBytes {
        let prefix = Self.pkcs8Prefix
        return unsafe SecretBytes(count: prefix.count + Self.byteCount) { memory in
            unsafe memory.copyBytes(from: prefix)
            unsafe secret.withUnsafeBytes { key in
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[prefix.count...]).copyMemory(from: key)
            }
        }
    }
}
