internal import Bytes

/// Finds the one key in a text with PEM blocks (RFC 7468), for readers that accept nothing but that block.
enum PEMText {
    /// The longest text that is parsed; a key on P-521 has less than 500 bytes.
    private static let byteLimit = 16 << 10
    private static let columns = 64
    /// The object identifier of secp256k1, 1.3.132.0.10, in DER.
    private static let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]

    /// A block: its label, such as `PRIVATE KEY`, and its lines.
    private struct Block {
        let label: String
        var lines: [Substring] = []

        var isPrivate: Bool { label.hasSuffix("PRIVATE KEY") }
        var isPublic: Bool { label == "PUBLIC KEY" }
        var isEncrypted: Bool { label.hasPrefix("ENCRYPTED") || lines.contains { $0.hasPrefix("Proc-Type:") } }

        /// The block with lines of 64 characters.
        var text: String {
            let body = lines.joined()
            var text = "-----BEGIN \(label)-----\n"
            var rest = body[...]
            while !rest.isEmpty {
                text += rest.prefix(columns) + "\n"
                rest = rest.dropFirst(columns)
            }
            return text + "-----END \(label)-----\n"
        }

        var namesSecp256k1: Bool {
            var der = (try? Base64.decode(lines.joined())) ?? []  // the next reader refuses invalid base64
            defer { der.wipe() }
            return der.indices.contains { der[$0...].starts(with: secp256k1) }
        }
    }

    /// Returns the key of the one block, by the first of `readers` that accepts it: each is for another curve.
    ///
    /// - Throws: ``NanoTDFError/invalidKey(reason:)`` and ``NanoTDFError/unsupportedCurve(_:)``.
    static func key<Key>(
        in text: String,
        isPrivate: Bool,
        readBy readers: [(String) throws -> Key]
    ) throws(NanoTDFError) -> Key {
        let block = try block(in: text, isPrivate: isPrivate)
        for reader in readers {
            if let key = try? reader(block) { return key }  // the key is perhaps on another curve
        }
        let kind = isPrivate ? "private" : "public"
        throw .invalidKey(reason: "it is no \(kind) key on secp256r1, secp384r1 or secp521r1")
    }

    /// Returns the block of a private or a public key, without the surrounding text.
    ///
    /// - Throws: ``NanoTDFError/invalidKey(reason:)`` if there is no such block or more than one, or if it is encrypted;
    ///   ``NanoTDFError/unsupportedCurve(_:)`` for a key on secp256k1.
    private static func block(in text: String, isPrivate: Bool) throws(NanoTDFError) -> String {
        let wanted = isPrivate ? "a private key" : "a public key"
        guard text.utf8.count <= byteLimit else {
            throw .invalidKey(reason: "it has more than \(byteLimit) bytes; give the PEM file of \(wanted)")
        }
        let blocks = blocks(of: text)
        let keys = blocks.filter { $0.isPrivate || $0.isPublic }
        guard let key = keys.first else {
            guard !blocks.contains(where: { $0.label == "CERTIFICATE" }) else {
                throw .invalidKey(reason: "it is a certificate; take its key out, with openssl x509 -pubkey -noout")
            }
            throw .invalidKey(reason: "it is no PEM text of a key; give the PEM file of \(wanted)")
        }
        guard keys.count == 1 else {
            throw .invalidKey(reason: "it has \(keys.count) keys; give a file with one")
        }
        guard !key.isEncrypted else {
            throw .invalidKey(reason: "it is encrypted; decrypt it first, for example with openssl pkey")
        }
        guard key.isPrivate == isPrivate else {
            throw .invalidKey(reason: "it is \(isPrivate ? "a public key" : "a private key"); give \(wanted)")
        }
        guard !key.namesSecp256k1 else { throw .unsupportedCurve(.secp256k1) }
        return key.text
    }

    private static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if let label = marked(line, "BEGIN") {
                open = Block(label: label)
            } else if let label = marked(line, "END") {
                if let block = open, block.label == label { blocks.append(block) }
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        return blocks
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop(while: \.isWhitespace)
        while line.last?.isWhitespace == true { line.removeLast() }
        return line
    }

    private static func marked(_ line: Substring, _ word: String) -> String? {
        let (start, end) = ("-----\(word) ", "-----")
        guard line.hasPrefix(start), line.hasSuffix(end), line.count >= start.count + end.count else { return nil }
        return String(line.dropFirst(start.count).dropLast(end.count))
    }
}
