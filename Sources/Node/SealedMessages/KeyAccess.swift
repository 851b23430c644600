public import Identity
public import NanoTDF
internal import OneTimeKeys

/// The public key to which content is sealed, as a stream chooses it.
public enum KeyAccess: Hashable, Sendable {
    /// The key of a key access service, which opens the content for those whom its policy allows.
    case service(NanoTDFPublicKey, ResourceLocator)
    /// A one-time key of the recipient, who alone can open the content, and once.
    case recipient(PeerId)
}

extension KeyStoreManager {
    /// Seals content to the key that `keyAccess` names: a NanoTDF, or the bytes of a ``SealedMessage``.
    ///
    /// Without keys of the recipient nothing is sealed, and never to a service instead. `policy` is that of content for a
    /// service; a message to a one-time key has none.
    ///
    /// - Throws: As ``seal(_:to:)``; `NanoTDFError`.
    public func seal(
        _ plaintext: [UInt8],
        by keyAccess: KeyAccess,
        policy: NanoTDFSealer.Policy
    ) async throws -> [UInt8] {
        switch keyAccess {
        case .recipient(let peer):
            return try await seal(plaintext, to: peer).bytes
        case .service(let key, let locator):
            return try NanoTDFSealer(to: key, keyAccess: locator, policy: policy).seal(plaintext).bytes
        }
    }

    /// Opens content of a peer: a message with its one-time key, which is erased, or a NanoTDF with the key of a service.
    ///
    /// Without `serviceKey`, the private key of the service, only messages to one-time keys are opened. Content for a
    /// service does not prove its sender: any key can seal it.
    ///
    /// - Throws: As ``open(_:from:)``; ``SealedMessageError/noServiceKey``; `NanoTDFError`.
    public func open(
        _ content: [UInt8],
        from peer: PeerId,
        serviceKey: NanoTDFPrivateKey?
    ) async throws -> [UInt8] {
        if let message = try Self.message(in: content) { return try await open(message, from: peer) }
        let file = try NanoTDF(content)
        guard let serviceKey else { throw SealedMessageError.noServiceKey }
        return try NanoTDFOpener.open(file, with: serviceKey).plaintext
    }

    /// The message to a one-time key; nil for other content.
    private static func message(in content: [UInt8]) throws(OneTimeKeyError) -> SealedMessage? {
        do throws(OneTimeKeyError) {
            return try SealedMessage(content)
        } catch OneTimeKeyError.malformed, OneTimeKeyError.tooLarge {
            return nil
        }
    }
}
