internal import Bytes
internal import Crypto
internal import Essentials

/// Seals payloads to one public key under one header, which has a new ephemeral key.
///
/// A sealer seals one file, or becomes a ``NanoTDFCollectionSealer`` or a ``NanoTDFStreamSealer``, which seal several
/// payloads under the same header. It cannot be copied, so that no IV is used twice.
public struct NanoTDFSealer: ~Copyable, Sendable {
    /// The policy to write.
    public enum Policy: Hashable, Sendable {
        /// A reference to a policy that a service has.
        case remote(ResourceLocator)
        /// A policy in clear: 1 to 65,535 bytes.
        case plain([UInt8])
        /// A policy that only the recipient can read: 1 to 65,535 bytes less those of the cipher's tag.
        case encrypted([UInt8])

        /// The content of a new policy object of OpenTDF without attributes and recipients: it allows everything.
        public static func unrestrictedContent() -> [UInt8] {
            let name = UUID().uuidString.lowercased()
            return Array(#"{"uuid":"\#(name)","body":{"dataAttributes":[],"dissem":[]}}"#.utf8)
        }
    }

    private let header: NanoTDFHeader
    private let key: PayloadKey
    private let creator: NanoTDFPrivateKey?

    /// Makes the header.
    ///
    /// - Parameters:
    ///   - recipient: The key of the recipient, or of the key access service.
    ///   - keyAccess: The name under which that key is known.
    ///   - policy: The policy, which is bound to the key of the payload.
    ///   - cipher: The length of the tags.
    ///   - binding: ``NanoTDFHeader/BindingMode/hash`` protects the policy against accidents alone.
    ///   - creator: The key that signs. Without it anyone could have made the file.
    /// - Throws: ``NanoTDFError/invalidInput(field:reason:)`` for a policy that is empty or too long, and
    ///   ``NanoTDFError/unsupportedCurve(_:)`` for a key on secp256k1.
    public init(
        to recipient: NanoTDFPublicKey,
        keyAccess: ResourceLocator,
        policy: Policy,
        cipher: SymmetricCipher = .aes256GCM128,
        binding: NanoTDFHeader.BindingMode = .ecdsa,
        creator: NanoTDFPrivateKey? = nil
    ) throws(NanoTDFError) {
        let ephemeral = try NanoTDFPrivateKey(generatedOn: recipient.curve)
        let key = PayloadKey(try ephemeral.sharedSecret(with: recipient))
        let policy = try Self.policy(policy, under: key, cipher: cipher)
        header = NanoTDFHeader(
            keyAccess: keyAccess,
            bindingMode: binding,
            isSigned: creator != nil,
            signatureCurve: creator?.curve ?? .secp256r1,
            cipher: cipher,
            policy: policy,
            binding: try PolicyBinding.make(binding, for: policy, by: ephemeral),
            ephemeralPublicKey: ephemeral.publicKey
        )
        self.key = key
        self.creator = creator
    }

    /// The most bytes of plaintext that one payload has: 16 MiB less 4 bytes and those of the tag.
    public var plaintextByteLimit: Int { NanoTDF.payloadByteLimit - NanoTDF.ivByteCount - header.cipher.tagByteCount }

    /// Seals the one payload of a file, under a random IV.
    ///
    /// - Throws: ``NanoTDFError/tooLarge(limit:found:)`` for more than ``plaintextByteLimit`` bytes.
    public consuming func seal(_ plaintext: [UInt8]) throws(NanoTDFError) -> NanoTDF {
        try seal(plaintext, iv: Int.random(in: 1...0xFF_FFFF))
    }

    /// Seals a payload under an IV, which must not be used twice with this header.
    func seal(_ plaintext: [UInt8], iv: Int, place: StreamPlace = .whole) throws(NanoTDFError) -> NanoTDF {
        guard plaintext.count <= plaintextByteLimit else {
            throw .tooLarge(limit: plaintextByteLimit, found: plaintext.count)
        }
        var writer = ByteWriter(capacity: NanoTDF.ivByteCount)
        writer.write(uint24: iv)
        let box = try GCM.seal(
            plaintext,
            under: key.key,
            nonce: place.nonce(writer.bytes),
            tagByteCount: header.cipher.tagByteCount
        )
        let payload = NanoTDF.Payload(iv: writer.bytes, ciphertext: box.ciphertext, tag: box.tag)
        let unsigned = NanoTDF(header: header, payload: payload, signature: nil)
        guard let creator else { return unsigned }
        let signature = NanoTDF.Signature(creator: creator.publicKey, signature: try creator.sign(unsigned.signedBytes))
        return NanoTDF(header: header, payload: payload, signature: signature)
    }

    private static func policy(
        _ policy: Policy,
        under key: PayloadKey,
        cipher: SymmetricCipher
    ) throws(NanoTDFError) -> NanoTDFPolicy {
        switch policy {
        case .remote(let locator):
            return .remote(locator)
        case .plain(let content):
            try check(content, limit: NanoTDFPolicy.contentByteLimit)
            return .plain(content)
        case .encrypted(let content):
            try check(content, limit: NanoTDFPolicy.contentByteLimit - cipher.tagByteCount)
            let box = try GCM.seal(
                content,
                under: key.key,
                nonce: NonceDialect.sdk.nonce([0, 0, 0]),
                tagByteCount: cipher.tagByteCount
            )
            return .encrypted(box.ciphertext + box.tag)
        }
    }

    private static func check(_ content: [UInt8], limit: Int) throws(NanoTDFError) {
        guard 1...limit ~= content.count else {
            throw .invalidInput(field: .policyContent, reason: "it has 1 to \(limit) bytes, not \(content.count)")
        }
    }
}
