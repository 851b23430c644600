package import Bytes
internal import Crypto
internal import Essentials
package import Identity
internal import SwiftASN1
internal import X509

/// The certificate that a node's web server presents to browsers, and its key.
///
/// Browsers do not support Ed25519, so the key is a P-256 key with no other use. The certificate is self-signed: people
/// compare its fingerprint, so it is kept instead of being created at every start or for every address.
package struct ServerCertificate: Sendable {
    /// The most bytes of a text that is parsed; ours have about 1200.
    package static let maximumTextByteCount = 16_384
    /// The longest life that browsers of all makers accept.
    package static let lifeSeconds: UInt64 = 825 * 86_400
    private static let certificateLabel = "CERTIFICATE"
    private static let keyLabel = "PRIVATE KEY"
    /// Names of a machine that fit a certificate.
    private static let nameByteLimit = 253

    /// The certificate.
    package let certificateDER: [UInt8]
    /// The private key in PKCS #8.
    package let privateKeyDER: SecretBytes
    /// The certificate as a chain of one, for a server.
    package let chain: CertificateChain
    /// The last second since 1970 in which it is good.
    package var endSeconds: UInt64 { chain.endSeconds }

    /// Makes a key and a certificate for a machine that has these addresses and this name, good from an hour before
    /// `seconds` since 1970, for clocks that are a little behind.
    ///
    /// - Throws: ``NodeCertificateError``.
    package static func make(
        addresses: [IPAddress],
        hostName: String?,
        at seconds: UInt64,
        using random: inout some RandomNumberGenerator
    ) throws(NodeCertificateError) -> ServerCertificate {
        let start = seconds > 3600 ? seconds - 3600 : 0
        let end = start + lifeSeconds
        guard end <= UnixTime.maximum, NodeCertificate.expressible.contains(UnixTime.date(end)) else {
            throw .invalidValidity
        }
        let serial = (0..<NodeCertificate.serialByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let key = P256.Signing.PrivateKey()
        do {
            let name = try DistinguishedName { CommonName("Runar console") }
            let certificate = try Certificate(
                version: .v3,
                serialNumber: Certificate.SerialNumber(bytes: NodeCertificate.serialNumber(from: serial)),
                publicKey: Certificate.PublicKey(key.publicKey),
                notValidBefore: UnixTime.date(start),
                notValidAfter: UnixTime.date(end),
                issuer: name,
                subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames(names(addresses, hostName))
                },
                issuerPrivateKey: Certificate.PrivateKey(key)
            )
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return try ServerCertificate(certificateDER: serializer.serializedBytes, key: key)
        } catch {
            throw .signingFailed(reason: "\(error)")
        }
    }

    /// Reads the certificate and the key that ``pem`` wrote, and nothing else.
    ///
    /// - Throws: ``NodeCertificateError``.
    package init(pem text: String) throws(NodeCertificateError) {
        guard text.utf8.count <= Self.maximumTextByteCount else {
            throw .tooLong(limit: Self.maximumTextByteCount, found: text.utf8.count)
        }
        do {
            let documents = try PEMDocument.parseMultiple(pemString: text)
            guard documents.map(\.discriminator) == [Self.certificateLabel, Self.keyLabel] else {
                throw NodeCertificateError.malformedText(reason: "it holds something else than a certificate and a key")
            }
            var bytes = documents[1].derBytes
            defer { bytes.wipe() }
            let key = try P256.Signing.PrivateKey(derRepresentation: bytes)
            try self.init(certificateDER: documents[0].derBytes, key: key)
        } catch let error as NodeCertificateError {
            throw error
        } catch {
            throw .malformedText(reason: "\(error)")
        }
    }

    private init(certificateDER: [UInt8], key: P256.Signing.PrivateKey) throws {
        let parsed = try ParsedCertificate(
            ParsedCertificate.bounded(certificateDER, limit: NodeCertificate.maximumByteCount)
        )
        let certificate = parsed.certificate
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
            throw NodeCertificateError.malformedText(reason: "the key is not that of the certificate")
        }
        self.certificateDER = certificateDER
        var bytes = Array(key.derRepresentation)
        privateKeyDER = SecretBytes(consuming: &bytes)
        chain = CertificateChain(parsed, der: certificateDER, privateKeyDER: privateKeyDER)
    }

    /// The certificate and its key as one text.
    package var pem: SecretBytes {
        privateKeyDER.withBytes { key in
            let texts = [
                PEMDocument(type: Self.certificateLabel, derBytes: certificateDER),
                PEMDocument(type: Self.keyLabel, derBytes: key),
            ]
            var bytes = texts.flatMap { Array($0.pemString.utf8) + [UInt8(ascii: "\n")] }
            return SecretBytes(consuming: &bytes)
        }
    }

    /// The SHA-256 of the certificate as browsers show it: `AB:CD:…`, 32 pairs of digits.
    package var fingerprint: String {
        SHA256.hash(data: certificateDER).map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }

    private static func names(_ addresses: [IPAddress], _ hostName: String?) -> [GeneralName] {
        let own = addresses.map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0.unmapped.bytes[...])) }
        guard let hostName, (1...nameByteLimit).contains(hostName.utf8.count),
            hostName.utf8.allSatisfy({ isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else { return own + [.dnsName("localhost")] }
        return own + [.dnsName(hostName)]
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
