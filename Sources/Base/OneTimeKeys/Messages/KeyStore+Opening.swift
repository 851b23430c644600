public import Identity
internal import NanoTDF

extension KeyStore {
    /// Opens a message for `recipient`, and erases the key: this value opens it no second time.
    ///
    /// A message that does not open leaves the key as it was. Store ``encodedSecrets`` before the plaintext is released: after
    /// a crash before that, the message counts as never opened.
    ///
    /// - Throws: ``OneTimeKeyError/wrongRecipient``, ``OneTimeKeyError/keyNotFound``, ``OneTimeKeyError/keyUsed`` and
    ///   ``OneTimeKeyError/authenticationFailed``.
    public mutating func open(_ message: SealedMessage, for recipient: PeerId) throws(OneTimeKeyError) -> [UInt8] {
        guard message.recipient == recipient else { throw .wrongRecipient }
        let (index, key) = try privateKey(named: message.keyName)
        let plaintext = try Self.open(message, with: key)
        erase(index)
        return plaintext
    }

    static func open(
        _ message: SealedMessage,
        with key: OneTimePrivateKey
    ) throws(OneTimeKeyError) -> [UInt8] {
        switch (message.form, key) {
        case (.nanoTDF(let file), .p256(let key)):
            do {
                let opened = try NanoTDFOpener.open(file, with: key)
                guard opened.dialect == .sdk else { throw NanoTDFError.authenticationFailed }
                return opened.plaintext
            } catch {
                throw .authenticationFailed
            }
        case (.xWing(let encapsulatedKey, let ciphertext), .xWing(let seed)):
            return try XWing.open(
                ciphertext,
                encapsulatedKey: encapsulatedKey,
                seed: seed,
                info: SealedMessage.xWingHeader(message.recipient, message.keyName)
            )
        case (.nanoTDF, .xWing), (.xWing, .p256):
            throw .authenticationFailed
        }
    }
}
