internal import Bytes
internal import NanoTDF

/// The fields of a NanoTDF's header, with bytes as hexadecimal digits.
struct NanoTDFHeaderReport: Codable, Sendable {
    /// A resource locator.
    struct Locator: Codable, Sendable {
        let `protocol`: String
        let body: String
        let url: String?
        let identifier: String
        /// The identifier as text, without the zeros at its end; null if it is none.
        let identifierText: String?

        init(_ locator: ResourceLocator) {
            `protocol` = locator.scheme.description
            body = locator.body
            url = locator.url
            identifier = Hex.encode(locator.identifier)
            let trimmed = locator.trimmedIdentifier
            identifierText = trimmed.isEmpty ? nil : String(utf8: trimmed)
        }

        var line: String {
            let place = url ?? "\(`protocol`): \(body)"
            return identifier.isEmpty ? place : "\(place), key \(identifierText ?? identifier)"
        }
    }

    /// The policy, with its content as it is in the file: perhaps encrypted.
    struct Policy: Codable, Sendable {
        let type: Int
        let name: String
        var locator: Locator?
        var ephemeralKey: String?
        var contentBytes: Int?
        var content: String?
        /// The content as text, decrypted if the file was opened; null if it is none.
        var text: String?

        init(_ policy: NanoTDFPolicy, opened: [UInt8]?) {
            type = Int(policy.type)
            switch policy {
            case .remote(let locator):
                name = "remote"
                self.locator = Locator(locator)
            case .plain(let content):
                name = "plain"
                set(content, text: content)
            case .encrypted(let content):
                name = "encrypted"
                set(content, text: opened)
            case .encryptedWithKeyAccess(let content, let locator, let key):
                name = "encrypted with key access"
                set(content, text: nil)
                self.locator = Locator(locator)
                ephemeralKey = Hex.encode(key.compressedRepresentation)
            }
        }

        private mutating func set(_ content: [UInt8], text: [UInt8]?) {
            contentBytes = content.count
            self.content = Hex.encode(content)
            self.text = text.flatMap { String(utf8: $0) }
        }

        var line: String {
            [name, locator?.line, text ?? contentBytes.map { "\($0) bytes" }].compactMap { $0 }.joined(separator: ", ")
        }
    }

    let keyAccess: Locator
    let curve: String
    let bindingMode: String
    let isSigned: Bool
    let signatureCurve: String
    let cipher: Int
    let tagBits: Int
    let policy: Policy
    let binding: String
    let ephemeralKey: String

    /// Describes `header`; `policy` is the decrypted content of its policy.
    init(_ header: NanoTDFHeader, policy: [UInt8]?) {
        keyAccess = Locator(header.keyAccess)
        curve = header.ephemeralPublicKey.curve.description
        bindingMode = header.bindingMode == .ecdsa ? "ecdsa" : "hash"
        isSigned = header.isSigned
        signatureCurve = header.signatureCurve.description
        cipher = Int(header.cipher.rawValue)
        tagBits = header.cipher.tagByteCount * 8
        self.policy = Policy(header.policy, opened: policy)
        binding = Hex.encode(header.binding)
        ephemeralKey = Hex.encode(header.ephemeralPublicKey.compressedRepresentation)
    }

    var lines: [(String, String?)] {
        [
            ("key access", keyAccess.line), ("curve", curve), ("cipher", "\(cipher), a tag of \(tagBits) bits"),
            ("policy", policy.line), ("ephemeral key", ephemeralKey),
        ]
    }
}
