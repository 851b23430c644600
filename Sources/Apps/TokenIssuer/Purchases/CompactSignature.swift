internal import Bytes
internal import Identity

/// A JSON Web Signature in compact form (RFC 7515, section 7.1) for ES256 and a chain of certificates, not verified.
///
/// It is read strictly: three segments in base64url without padding, and headers and claims as JSON objects without
/// duplicate fields. The algorithm is compared before any other field is read.
struct CompactSignature {
    /// The most bytes of the text; transactions of the App Store have about 5 to 8 KiB.
    static let maximumByteCount = 16_384
    private static let algorithm = "ES256"
    private static let limits = JSONLimits(byteCount: maximumByteCount, fieldCount: 128, depth: 8)

    /// The certificates of the header in DER, the leaf first.
    let certificates: [[UInt8]]
    /// The fields of the payload.
    let claims: [JSONField]
    /// The raw signature.
    let signature: [UInt8]
    /// The signed bytes: header and payload as they arrived, joined by a period.
    let signedBytes: [UInt8]

    /// Reads a text.
    init(_ text: String) throws(PurchaseError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw .tooLong(limit: Self.maximumByteCount, found: text.utf8.count)
        }
        let segments = text.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.count == 3 else {
            throw .malformed(reason: "it has \(segments.count) segments instead of 3")
        }
        let header = try Self.object(segments[0], named: "header")
        guard header.value(of: "alg") == .string(Self.algorithm) else {
            throw .algorithmRefused(header.value(of: "alg")?.text ?? "")
        }
        // No extension is understood, so that each is refused (RFC 7515, section 4.1.11).
        guard header.value(of: "crit") == nil else { throw .malformed(reason: "its header requires an extension") }
        certificates = try Self.certificates(of: header)
        claims = try Self.object(segments[1], named: "payload")
        signature = try Self.bytes(segments[2], named: "signature")
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    private static func certificates(of header: [JSONField]) throws(PurchaseError) -> [[UInt8]] {
        guard case .array(let elements)? = header.value(of: "x5c") else {
            throw .malformed(reason: "its header has no certificates")
        }
        var certificates: [[UInt8]] = []
        for element in elements {
            do {
                certificates.append(try Base64.decode(element.text ?? "?"))
            } catch {
                throw .malformed(reason: "certificate \(certificates.count + 1) of its header is not base64")
            }
        }
        return certificates
    }

    private static func object(_ segment: Substring, named name: String) throws(PurchaseError) -> [JSONField] {
        let text = try bytes(segment, named: name)
        do {
            return try JSONValue.fields(of: text, limits: limits)
        } catch {
            throw .malformed(reason: "its \(name): \(error)")
        }
    }

    private static func bytes(_ segment: Substring, named name: String) throws(PurchaseError) -> [UInt8] {
        do {
            return try Base64URL.decode(String(segment))
        } catch {
            throw .malformed(reason: "its \(name) is not base64url without padding")
        }
    }
}
