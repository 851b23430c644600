internal import Bytes
public import Identity
internal import NanoTDF

/// A public one-time key that was taken from a pool; sealing consumes it, so that it is used once.
public struct OneTimePublicKey: ~Copyable, Sendable {
    private let suite: OneTimeKeySuite
    private let bytes: [UInt8]

    init(_ suite: OneTimeKeySuite, _ bytes: [UInt8]) {
        self.suite = suite
        self.bytes = bytes
    }

    /// Seals a message to the peer whose key this is.
    ///
    /// - Throws: ``OneTimeKeyError/tooLarge(limit:found:)`` above ``SealedMessage/plaintextByteLimit``, ``OneTimeKeyError/malformed(of:reason:)`` if the
    ///   peer's bytes are no key, and ``OneTimeKeyError/unsupportedSuite(_:)``.
    public consuming func seal(_ plaintext: [UInt8], to recipient: PeerId) throws(OneTimeKeyError) -> SealedMessage {
        guard plaintext.count <= SealedMessage.plaintextByteLimit else {
            throw .tooLarge(limit: SealedMessage.plaintextByteLimit, found: plaintext.count)
        }
        let name = OneTimeKeyName(ofPublicKey: bytes)
        switch suite {
        case .p256:
            guard let key = NanoTDFPublicKey(compressed: bytes, on: .secp256r1) else {
                throw .malformed(of: "a key of the peer", reason: "it is no point of the curve; exchange keys again")
            }
            let file = try Self.nanoTDF(plaintext, key: key, recipient: recipient, name: name)
            return SealedMessage(to: recipient, keyName: name, .nanoTDF(file))
        case .xWing:
            let header = SealedMessage.xWingHeader(recipient, name)
            let (encapsulatedKey, ciphertext) = try XWing.seal(plaintext, to: bytes, info: header)
            let form = SealedMessage.Form.xWing(encapsulatedKey: encapsulatedKey, ciphertext: ciphertext)
            return SealedMessage(to: recipient, keyName: name, form)
        }
    }

    /// The policy is the same in each message and the recipient compares it, so that a signature of it would show nothing.
    private static func nanoTDF(
        _ plaintext: [UInt8],
        key: NanoTDFPublicKey,
        recipient: PeerId,
        name: OneTimeKeyName
    ) throws(OneTimeKeyError) -> NanoTDF {
        do {
            let locator = try ResourceLocator(
                .sharedResourceDirectory,
                body: Base58.encode(recipient.bytes),
                identifier: name.digits
            )
            let sealer = try NanoTDFSealer(
                to: key,
                keyAccess: locator,
                policy: .plain(SealedMessage.policy),
                binding: .hash
            )
            return try sealer.seal(plaintext)
        } catch {
            throw .cryptographyFailed
        }
    }
}
