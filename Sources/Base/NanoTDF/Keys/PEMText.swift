internal import Bytes

/// Checks of a PEM text (RFC 7468) before the system's cryptography reads it, for errors that say what to do.
enum PEMText {
    /// The longest text that is parsed; a key on P-521 has less than 500 bytes.
    private static let byteLimit = 16 << 10
    /// The object identifier of secp256k1, 1.3.132.0.10, in DER.
    private static let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]

    /// Throws if `text` is a key of the other half, is encrypted, is on secp256k1, or is no PEM text of a key.
    static func check(_ text: String, isPrivate: Bool) throws(NanoTDFError) {
        let wanted = isPrivate ? "a private key" : "a public key"
        guard text.utf8.count <= byteLimit else {
            throw .invalidKey(reason: "it has more than \(byteLimit) bytes; give the PEM file of \(wanted)")
        }
        let labels = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("-----BEGIN ") }
        guard !labels.contains(where: { $0.contains("ENCRYPTED") }) else {
            throw .invalidKey(reason: "it is encrypted; decrypt it first, for example with openssl pkey")
        }
        guard !labels.contains(where: { $0.contains("CERTIFICATE") }) else {
            throw .invalidKey(reason: "it is a certificate; take its key out, with openssl x509 -pubkey -noout")
        }
        let hasPrivate = labels.contains { $0.contains("PRIVATE KEY") }
        let hasPublic = labels.contains { $0.contains("PUBLIC KEY") }
        guard hasPrivate || hasPublic else {
            throw .invalidKey(reason: "it is no PEM text; give the PEM file of \(wanted)")
        }
        guard isPrivate ? hasPrivate : !hasPrivate else {
            throw .invalidKey(reason: "it is \(isPrivate ? "a public key" : "a private key"); give \(wanted)")
        }
        guard !namesSecp256k1(text) else { throw .unsupportedCurve(.secp256k1) }
    }

    private static func namesSecp256k1(_ text: String) -> Bool {
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
        var der = (try? Base64.decode(lines.joined())) ?? []  // what is no base64 is refused by the next reader
        defer { der.wipe() }
        return der.indices.contains { der[$0...].starts(with: secp256k1) }
    }
}
