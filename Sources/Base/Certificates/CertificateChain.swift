package import Bytes
internal import Crypto
internal import Identity
internal import SwiftASN1
internal import X509

/// The certificate of a TLS server with the intermediate ones behind it, and its private key.
///
/// The two texts are the files of authorities and their clients, such as fullchain.pem and privkey.pem of certbot.
package struct CertificateChain: Sendable {
    package static let maximumCertificateCount = 8
    /// The most bytes of the text with the certificates; those of an authority have about 1 to 2 KiB each.
    package static let maximumTextByteCount = 65_536
    /// The most bytes of the text with the key; RSA keys of 4096 bits have about 3300.
    package static let maximumKeyTextByteCount = 16_384
    private static let certificateLabel = "CERTIFICATE"
    private static let keyLabels = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
    private static let encryptedLabel = "ENCRYPTED PRIVATE KEY"

    /// The certificates, the leaf first.
    package let certificatesDER: [[UInt8]]
    /// The private key of the leaf in PKCS #8, SEC 1 or PKCS #1.
    package let privateKeyDER: SecretBytes
    /// The last second since 1970 in which all certificates are good.
    package let endSeconds: UInt64
    /// The SHA-256 digests of the certificates' public keys (SubjectPublicKeyInfo), which clients may pin.
    package let keyDigests: [[UInt8]]

    /// Reads the text of the certificates and that of the key, which must be good at `seconds` since 1970.
    ///
    /// - Throws: ``CertificateChainError``.
    package init(
        certificates text: String,
        key keyText: SecretBytes,
        at seconds: UInt64
    ) throws(CertificateChainError) {
        let chain = try Self.certificates(text)
        let (keyDER, key) = try Self.privateKey(keyText)
        let certificates = chain.map(\.parsed.certificate)
        try Self.check(key.publicKey, belongsTo: certificates)
        try Self.checkOrder(certificates)
        try Self.checkTimes(certificates, at: seconds)
        self.init(chain, keyDER)
    }

    /// A chain of one certificate.
    init(_ certificate: ParsedCertificate, der: [UInt8], privateKeyDER: SecretBytes) {
        self.init([(der, certificate)], privateKeyDER)
    }

    private init(_ chain: [(der: [UInt8], parsed: ParsedCertificate)], _ key: SecretBytes) {
        certificatesDER = chain.map(\.der)
        privateKeyDER = key
        endSeconds = chain.map { UnixTime.clampedSeconds(of: $0.parsed.certificate.notValidAfter) }.min() ?? 0
        keyDigests = chain.map { Array(SHA256.hash(data: $0.parsed.publicKeyDER)) }
    }

    private static func certificates(
        _ text: String
    ) throws(CertificateChainError) -> [(der: [UInt8], parsed: ParsedCertificate)] {
        let documents = try Self.documents(text, .certificates, limit: maximumTextByteCount)
            .filter { $0.discriminator == certificateLabel }
        guard !documents.isEmpty else { throw .noCertificate }
        guard documents.count <= maximumCertificateCount else {
            throw .tooManyCertificates(limit: maximumCertificateCount)
        }
        var chain: [(der: [UInt8], parsed: ParsedCertificate)] = []
        for document in documents {
            do {
                chain.append((document.derBytes, try ParsedCertificate(document.derBytes)))
            } catch {
                throw .malformed(.certificates, reason: "certificate \(chain.count + 1): \(error)")
            }
        }
        return chain
    }

    private static func documents(
        _ text: String,
        _ part: CertificateChainError.Part,
        limit: Int
    ) throws(CertificateChainError) -> [PEMDocument] {
        guard text.utf8.count <= limit else { throw .tooLong(part, limit: limit, found: text.utf8.count) }
        do {
            return try PEMDocument.parseMultiple(pemString: text)
        } catch {
            throw .malformed(part, reason: "\(error)")
        }
    }

    private static func privateKey(
        _ text: SecretBytes
    ) throws(CertificateChainError) -> (der: SecretBytes, key: Certificate.PrivateKey) {
        let documents = try text.withBytes { (bytes) throws(CertificateChainError) in
            try Self.documents(String(decoding: bytes, as: UTF8.self), .key, limit: maximumKeyTextByteCount)
        }
        // A file may begin with the parameters of a curve.
        guard let document = documents.first(where: { keyLabels.contains($0.discriminator) }) else {
            throw documents.contains { $0.discriminator == encryptedLabel } ? .encryptedKey : .noKey
        }
        let key: Certificate.PrivateKey
        do {
            key = try Certificate.PrivateKey(pemDocument: document)
        } catch {
            throw .unsupportedKey(reason: "\(error)")
        }
        try checkKind(key.publicKey)
        var bytes = document.derBytes
        return (SecretBytes(consuming: &bytes), key)
    }

    /// The library refuses RSA keys of less than 2048 bits.
    private static func checkKind(_ key: Certificate.PublicKey) throws(CertificateChainError) {
        guard P521.Signing.PublicKey(key) == nil, Curve25519.Signing.PublicKey(key) == nil else {
            throw .unsupportedKey(reason: "\(key)")
        }
    }

    private static func check(
        _ key: Certificate.PublicKey,
        belongsTo certificates: [Certificate]
    ) throws(CertificateChainError) {
        guard let position = certificates.firstIndex(where: { $0.publicKey == key }) else { throw .otherKey }
        guard position == 0 else { throw .leafNotFirst(position: position + 1) }
    }

    private static func checkOrder(_ certificates: [Certificate]) throws(CertificateChainError) {
        for (index, pair) in zip(certificates, certificates.dropFirst()).enumerated() {
            guard pair.0.isIssued(by: pair.1) else { throw .notInOrder(position: index + 1) }
        }
    }

    private static func checkTimes(
        _ certificates: [Certificate],
        at seconds: UInt64
    ) throws(CertificateChainError) {
        for (index, certificate) in certificates.enumerated() {
            switch certificate.validity(at: seconds) {
            case .valid: continue
            case .expired(let end): throw .expired(position: index + 1, endSeconds: end)
            case .notYetValid(let start): throw .notYetValid(position: index + 1, startSeconds: start)
            }
        }
    }
}
