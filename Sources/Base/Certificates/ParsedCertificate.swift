internal import Identity
internal import SwiftASN1
internal import X509

/// One certificate in DER, parsed twice: as a whole, and down to the exact bytes of its key.
///
/// The key is taken from its place in the structure and compared byte by byte with the only encoding that RFC 8410
/// allows, so that no other reader of the same bytes can see another key.
internal struct ParsedCertificate {
    let certificate: Certificate
    /// The subjectPublicKeyInfo as it is in the certificate.
    let publicKeyDER: ArraySlice<UInt8>
    /// The raw key if it is Ed25519 in its one encoding.
    let ed25519KeyBytes: [UInt8]?

    /// The bytes before the 32 bytes of every Ed25519 key: id-Ed25519 without parameters, a bit string without unused
    /// bits (RFC 8410, section 4).
    private static let keyPrefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]

    private static let versionIdentifier = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)

    init(_ bytes: [UInt8]) throws(NodeCertificateError) {
        do {
            let root = try DER.parse(bytes)
            certificate = try Certificate(derEncoded: root)
            publicKeyDER = try Self.keyNode(of: root).encodedBytes
            ed25519KeyBytes = Self.ed25519KeyBytes(of: publicKeyDER)
        } catch {
            throw .malformed(reason: "\(error)")
        }
    }

    /// The raw key of a subjectPublicKeyInfo if it is Ed25519 in its one encoding.
    static func ed25519KeyBytes(of encoded: ArraySlice<UInt8>) -> [UInt8]? {
        guard encoded.starts(with: keyPrefix), encoded.count == keyPrefix.count + 32 else { return nil }
        return [UInt8](encoded.suffix(32))
    }

    /// The key that a node or an authority has, from its raw bytes.
    static func publicKey(_ bytes: [UInt8]?) throws(NodeCertificateError) -> Ed25519PublicKey {
        guard let bytes else { throw .notEd25519 }
        do {
            return try Ed25519PublicKey(rawRepresentation: bytes)
        } catch {
            throw .unusableKey(reason: "\(error)")
        }
    }

    /// Refuses bytes beyond `limit` before anything is parsed.
    static func bounded(_ bytes: some Collection<UInt8>, limit: Int) throws(NodeCertificateError) -> [UInt8] {
        guard bytes.count <= limit else {
            throw .tooLong(limit: limit, found: bytes.count)
        }
        return [UInt8](bytes)
    }

    /// The subjectPublicKeyInfo of the certificate (RFC 5280, section 4.1).
    private static func keyNode(of root: ASN1Node) throws -> ASN1Node {
        try DER.sequence(root, identifier: .sequence) { fields in
            guard let signed = fields.next() else {
                throw ASN1Error.invalidASN1Object(reason: "no signed part")
            }
            // The rest of the certificate is the concern of the parser that reads all of it.
            while fields.next() != nil {}
            return try DER.sequence(signed, identifier: .sequence) { fields in
                // Version (left out by the oldest certificates), serial number, signature algorithm, issuer, validity
                // and subject come first.
                let isFirstVersion = fields.next()?.identifier != versionIdentifier
                for _ in 0..<(isFirstVersion ? 4 : 5) {
                    _ = fields.next()
                }
                guard let key = fields.next() else {
                    throw ASN1Error.invalidASN1Object(reason: "no public key")
                }
                while fields.next() != nil {}
                return key
            }
        }
    }
}
