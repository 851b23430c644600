internal import Bytes
internal import CommandModel
package import NanoTDF

/// The fields of a NanoTDF, with bytes as hexadecimal digits, and the results of its verification.
package struct NanoTDFReport: Report {
    /// The checks of the first part.
    struct Verification: Codable, Sendable {
        /// `valid`, `invalid`, `unsupported` for a curve that cannot be verified here, or `none`.
        let signature: String
        /// `ecdsa`, `gmac`, `hash`, `unverified` if only the holder of the key can verify it, `unsupported`, or `invalid`.
        let binding: String
        /// Whether the policy is authenticated: not by a hash without a key.
        let policyIsAuthenticated: Bool
        /// `sdk`, `specification` or `kit`; null until the file is opened.
        let dialect: String?
    }

    /// The payload of the first part.
    struct Payload: Codable, Sendable {
        let length: Int
        let iv: String
        let ciphertextBytes: Int
        let tag: String
    }

    /// The signature of the creator.
    struct Signature: Codable, Sendable {
        let curve: String
        let creator: String
        let bytes: String
    }

    let kind: String
    let valid: Bool
    package let problem: String?
    let version: Int
    let header: NanoTDFHeaderReport
    let payload: Payload
    let signature: Signature?
    let verification: Verification
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
    ///   - problem: The error in later parts.
    ///   - opened: The first part, if all were opened.
    ///   - plaintextBytes: The bytes of all parts, if they were opened.
    package init(
        _ file: NanoTDF,
        parts: Int,
        problem: String? = nil,
        opened: OpenedNanoTDF? = nil,
        plaintextBytes: Int? = nil
    ) {
        let check = NanoTDFCheck(file)
        kind = "nanotdf"
        self.problem = opened == nil ? check.problem ?? problem : nil
        valid = self.problem == nil
        version = 12
        header = NanoTDFHeaderReport(file.header, policy: opened?.policy)
        payload = Payload(
            length: file.payload.iv.count + file.payload.ciphertext.count + file.payload.tag.count,
            iv: Hex.encode(file.payload.iv),
            ciphertextBytes: file.payload.ciphertext.count,
            tag: Hex.encode(file.payload.tag)
        )
        signature = file.signature.map {
            Signature(
                curve: $0.creator.curve.description,
                creator: Hex.encode($0.creator.compressedRepresentation),
                bytes: Hex.encode($0.signature)
            )
        }
        verification = Verification(
            signature: check.signature,
            binding: opened?.binding.rawValue ?? check.binding,
            policyIsAuthenticated: opened?.binding.isAuthenticated ?? check.policyIsAuthenticated,
            dialect: opened?.dialect.rawValue
        )
        self.parts = parts
        self.plaintextBytes = plaintextBytes
    }

    package var lines: [String] {
        let binding =
            verification.policyIsAuthenticated
            ? verification.binding : "\(verification.binding): the policy is not authenticated"
        let fields: [(String, String?)] =
            [("kind", "NanoTDF, version \(version)"), ("valid", valid ? "yes" : "no"), ("problem", problem)]
            + header.lines + [
                ("binding", binding),
                (
                    "creator",
                    signature.map { "\($0.creator), signature \(verification.signature)" }
                        ?? "none: anyone could have sealed this"
                ),
                ("payload", "\(payload.ciphertextBytes) bytes, IV \(payload.iv), tag \(payload.tag)"),
                ("parts", parts == 1 ? nil : "\(parts)"), ("dialect", verification.dialect),
                ("opened", plaintextBytes.map { "\($0) bytes" }), ("written to", path),
            ]
        return fields.compactMap { name, value in value.map { name.padding(to: 18) + $0 } }
    }
}

/// The checks of a NanoTDF that need no key.
private struct NanoTDFCheck {
    let signature: String
    let binding: String
    let policyIsAuthenticated: Bool
    let problem: String?

    init(_ file: NanoTDF) {
        var problem: String?
        switch file.hasValidCreatorSignature {
        case nil: signature = "none"
        case true?: signature = "valid"
        case false? where file.signature?.creator.curve == .secp256k1: signature = "unsupported"
        case false?:
            signature = "invalid"
            problem = NanoTDFError.invalidCreatorSignature.description
        }
        let publicBinding = file.header.publicBinding
        policyIsAuthenticated = publicBinding?.isAuthenticated ?? false
        switch (publicBinding, file.header.bindingMode) {
        case (let verified?, _): binding = verified.rawValue
        case (nil, .hash):
            binding = "unverified"
            let doubt = "its binding is not a hash: it is a GMAC, or the policy was changed; only `runar open` can tell"
            problem = problem ?? doubt
        case (nil, .ecdsa) where file.header.ephemeralPublicKey.curve == .secp256k1: binding = "unsupported"
        case (nil, .ecdsa):
            binding = "invalid"
            problem = problem ?? NanoTDFError.invalidBinding.description
        }
        self.problem = problem
    }
}
