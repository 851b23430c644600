internal import Bytes

/// A decrypted payload with the verified properties of its file.
public struct OpenedNanoTDF: Sendable {
    /// The plaintext.
    public let plaintext: [UInt8]
    /// The content of an embedded policy, decrypted; nil for a remote policy.
    public let policy: [UInt8]?
    /// The binding of the policy.
    public let binding: PolicyBinding
    /// The key whose signature over header and payload was verified; nil for a file without a signature.
    ///
    /// Any key can sign: compare it with the key that you expect.
    public let creator: NanoTDFPublicKey?
    /// The dialect of the payload's nonce.
    public let dialect: NonceDialect
}

/// Opens payloads under one header.
///
/// One opener opens all messages of a collection: the key is agreed once.
///
/// Nothing is released before everything is verified: the binding of the policy when the opener is made, the
/// signature of the creator and the tags of payload and policy with each payload.
public struct NanoTDFOpener: Sendable {
    /// The header.
    public let header: NanoTDFHeader
    /// The binding of the policy.
    public let binding: PolicyBinding
    private let key: PayloadKey

    /// Derives the key of the payload, and verifies the binding.
    ///
    /// - Throws: ``NanoTDFError/wrongCurve(expected:found:)``, ``NanoTDFError/unsupportedCurve(_:)``,
    ///   ``NanoTDFError/unsupportedPolicy`` or ``NanoTDFError/invalidBinding``.
    public init(_ header: NanoTDFHeader, key: NanoTDFPrivateKey) throws(NanoTDFError) {
        guard header.ephemeralPublicKey.curve != .secp256k1 else { throw .unsupportedCurve(.secp256k1) }
        if case .encryptedWithKeyAccess = header.policy { throw .unsupportedPolicy }
        self.header = header
        self.key = PayloadKey(try key.sharedSecret(with: header.ephemeralPublicKey))
        binding = try PolicyBinding(verifying: header, with: self.key)
    }

    /// Opens one file with the private key of its recipient.
    ///
    /// - Throws: ``NanoTDFError``; see ``init(_:key:)`` and ``open(_:)``.
    public static func open(_ file: NanoTDF, with key: NanoTDFPrivateKey) throws(NanoTDFError) -> OpenedNanoTDF {
        try verifyCreator(of: file)
        return try NanoTDFOpener(file.header, key: key).openVerified(file)
    }

    /// Opens a payload, which must be under this opener's header.
    ///
    /// - Throws: ``NanoTDFError/otherHeader``, ``NanoTDFError/invalidCreatorSignature`` or
    ///   ``NanoTDFError/authenticationFailed``.
    public func open(_ file: NanoTDF) throws(NanoTDFError) -> OpenedNanoTDF {
        try Self.verifyCreator(of: file)
        return try openVerified(file)
    }

    private func openVerified(_ file: NanoTDF) throws(NanoTDFError) -> OpenedNanoTDF {
        for dialect in NonceDialect.allCases {
            guard let plaintext = try decrypt(file, nonce: dialect.nonce(file.payload.iv)) else { continue }
            return try opened(file, plaintext, dialect)
        }
        throw .authenticationFailed
    }

    /// Opens the first payload of a file: alone, or the first part of several.
    func openFirst(_ file: NanoTDF) throws(NanoTDFError) -> (opened: OpenedNanoTDF, isWhole: Bool) {
        if let opened = try open(file, at: .first) { return (opened, false) }
        return (try openVerified(file), true)
    }

    /// Opens a payload of a verified creator that is at `place` in a file; nil if it is elsewhere, or was not made with
    /// this header.
    func open(_ file: NanoTDF, at place: StreamPlace) throws(NanoTDFError) -> OpenedNanoTDF? {
        guard let plaintext = try decrypt(file, nonce: place.nonce(file.payload.iv)) else { return nil }
        return try opened(file, plaintext, .sdk)
    }

    private func decrypt(_ file: NanoTDF, nonce: [UInt8]) throws(NanoTDFError) -> [UInt8]? {
        guard file.header == header else { throw .otherHeader }
        let box = GCM.Box(ciphertext: file.payload.ciphertext, tag: file.payload.tag)
        return try GCM.open(box, under: key.key, nonce: nonce)
    }

    private func opened(
        _ file: NanoTDF,
        _ plaintext: [UInt8],
        _ dialect: NonceDialect
    ) throws(NanoTDFError) -> OpenedNanoTDF {
        OpenedNanoTDF(
            plaintext: plaintext,
            policy: try openPolicy(dialect),
            binding: binding,
            creator: file.signature?.creator,
            dialect: dialect
        )
    }

    static func verifyCreator(of file: NanoTDF) throws(NanoTDFError) {
        guard file.signature?.creator.curve != .secp256k1 else { throw .unsupportedCurve(.secp256k1) }
        guard file.hasValidCreatorSignature != false else { throw .invalidCreatorSignature }
    }

    private func openPolicy(_ dialect: NonceDialect) throws(NanoTDFError) -> [UInt8]? {
        switch header.policy {
        case .remote, .encryptedWithKeyAccess:
            return nil
        case .plain(let content):
            return content
        case .encrypted(let content):
            let tagByteCount = header.cipher.tagByteCount
            let box = GCM.Box(
                ciphertext: [UInt8](content.dropLast(tagByteCount)),
                tag: [UInt8](content.suffix(tagByteCount))
            )
            guard let policy = try GCM.open(box, under: key.key, nonce: dialect.nonce([0, 0, 0])) else {
                throw .authenticationFailed
            }
            return policy
        }
    }
}
