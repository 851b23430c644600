internal import Bytes
package import NanoTDF

/// The fields of a NanoTDF, and what was verified of it.
package struct NanoTDFReport: Report {
    /// A resource locator.
    struct Locator: Codable, Sendable {
        let `protocol`: String
        let body: String
        let url: String?
        /// Hexadecimal digits.
        let identifier: String
        /// The identifier as text, without the zeros at its end; null if it is none.
        let identifierText: String?

        init(_ locator: ResourceLocator) {
            `protocol` = locator.scheme.description
            body = locator.body
            url = locator.url
            identifier = Hex.encode(locator.identifier)
            let trimmed = locator.trimmedIdentifier
            identifierText = trimmed.isEmpty ? nil : String(validating: trimmed, as: UTF8.self)
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
        var contentBytes: Int?
        /// Hexadecimal digits.
        var content: String?
        /// The content as text, decrypted if the file was opened; null if it is none.
        var text: String?

        init(_ policy: NanoTDFPolicy) {
            type = Int(policy.type)
            switch policy {
            case .remote(let locator):
                name = "remote"
                self.locator = Locator(locator)
            case .plain(let content):
                name = "plain"
                set(content)
                text = String(validating: content, as: UTF8.self)
            case .encrypted(let content):
                name = "encrypted"
                set(content)
            case .encryptedWithKeyAccess(let content, let locator, _):
                name = "encrypted with key access"
                set(content)
                self.locator = Locator(locator)
            }
        }

        private mutating func set(_ content: [UInt8]) {
            contentBytes = content.count
            self.content = Hex.encode(content)
        }

        var line: String {
            [name, locator?.line, text ?? contentBytes.map { "\($0) bytes" }].compactMap { $0 }.joined(separator: ", ")
        }
    }

    /// The payload of the first part.
    struct Payload: Codable, Sendable {
        /// Hexadecimal digits.
        let iv: String
        let ciphertextBytes: Int
        /// Hexadecimal digits.
        let tag: String
    }

    let kind: String
    let valid: Bool
    let problem: String?
    let version: Int
    let keyAccess: Locator
    let curve: String
    let cipher: Int
    let tagBits: Int
    let policy: Policy
    /// `ecdsa`, `gmac` or `hash`, with `unverified` if the key of the recipient is needed to tell, or `invalid`.
    let binding: String
    let bindingBytes: String
    /// Whether the policy is authenticated: not by a hash without a key.
    let policyIsAuthenticated: Bool
    let ephemeralKey: String
    let payload: Payload
    /// The compressed public key of the creator; null without a signature.
    let creator: String?
    let creatorCurve: String?
    /// `valid`, `invalid` or `none`.
    let signature: String
    /// `sdk`, `specification` or `kit`; null until the file is opened.
    let dialect: String?
    /// Whether all parts were opened.
    let opened: Bool
    let parts: Int
    /// The bytes of the plaintext; null until the file is opened.
    let plaintextBytes: Int?
    /// The absolute path of the plaintext or of the sealed file.
    package var path: String?

    /// Describes a file from its first part.
    ///
    /// - Parameters:
    ///   - file: The first part.
    ///   - parts: The number of parts.
    ///   - opened: The first part, if all were opened.
    ///   - plaintextBytes: The bytes of all parts, if they were opened.
    package init(_ file: NanoTDF, parts: Int, opened: OpenedNanoTDF? = nil, plaintextBytes: Int? = nil) {
        let header = file.header
        let verification = NanoTDFVerification(file)
        kind = "nanotdf"
        problem = opened == nil ? verification.problem : nil
        valid = problem == nil
        version = 12
        keyAccess = Locator(header.keyAccess)
        curve = header.ephemeralPublicKey.curve.description
        cipher = Int(header.cipher.rawValue)
        tagBits = header.cipher.tagByteCount * 8
        var policy = Policy(header.policy)
        if let content = opened?.policy { policy.text = String(validating: content, as: UTF8.self) }
        self.policy = policy
        binding = opened?.binding.rawValue ?? verification.binding
        policyIsAuthenticated = opened?.binding.isAuthenticated ?? verification.policyIsAuthenticated
        bindingBytes = Hex.encode(header.binding)
        ephemeralKey = Hex.encode(header.ephemeralPublicKey.compressedRepresentation)
        payload = Payload(
            iv: Hex.encode(file.payload.iv),
            ciphertextBytes: file.payload.ciphertext.count,
            tag: Hex.encode(file.payload.tag)
        )
        creator = file.signature.map { Hex.encode($0.creator.compressedRepresentation) }
        creatorCurve = file.signature?.creator.curve.description
        signature = verification.signature
        dialect = opened?.dialect.rawValue
        self.opened = opened != nil
        self.parts = parts
        self.plaintextBytes = plaintextBytes
    }

    package var lines: [String] {
        let fields: [(String, String?)] = [
            ("kind", "NanoTDF, version \(version)"), ("valid", valid ? "yes" : "no"), ("problem", problem),
            ("key access", keyAccess.line), ("curve", curve), ("cipher", "\(cipher), a tag of \(tagBits) bits"),
            ("policy", policy.line),
            ("binding", policyIsAuthenticated ? binding : "\(binding): the policy is not authenticated"),
            ("ephemeral key", ephemeralKey),
            ("creator", creator.map { "\($0), signature \(signature)" } ?? "none: anyone could have sealed this"),
            ("payload", "\(payload.ciphertextBytes) bytes, IV \(payload.iv), tag \(payload.tag)"),
            ("parts", parts == 1 ? nil : "\(parts)"), ("dialect", dialect),
            ("opened", plaintextBytes.map { "\($0) bytes" }), ("written to", path),
        ]
        return fields.compactMap { name, value in value.map { name.padding(to: 18) + $0 } }
    }
}

/// The checks of a NanoTDF that need no key.
private struct NanoTDFVerification {
    let signature: String
    let binding: String
    let policyIsAuthenticated: Bool
    let problem: String?

    init(_ file: NanoTDF) {
        let publicBinding = file.header.publicBinding
        policyIsAuthenticated = publicBinding?.isAuthenticated ?? false
        var problem: String?
        switch file.hasValidCreatorSignature {
        case true?: signature = "valid"
        case nil: signature = "none"
        case false?:
            signature = "invalid"
            problem = NanoTDFError.invalidCreatorSignature.description
        }
        switch publicBinding {
        case let verified?: binding = verified.rawValue
        case nil where file.header.bindingMode == .hash: binding = "unverified"
        case nil:
            binding = "invalid"
            problem = problem ?? NanoTDFError.invalidBinding.description
        }
        self.problem = problem
    }
}
