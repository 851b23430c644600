internal import Bytes
internal import Crypto
internal import CryptoPrimitives

/// The keys of the local side and one peer that handshakes need.
struct HandshakeKeys: Sendable {
    var local: X25519PrivateKey
    var remote: X25519PublicKey
    /// The secret of the two static keys, agreed once.
    var staticSecret: SecretBytes
    var preshared: PresharedKey
}

/// The keys of a session that a handshake made, and the peer's index.
struct DerivedSession: Sendable {
    var remoteIndex: UInt32
    var sendingKey: SymmetricKey
    var receivingKey: SymmetricKey
}

/// The initiator's state of a handshake between its initiation and the response (the paper, sections 5.4.2 and 5.4.3).
struct InitiatorHandshake: Sendable {
    /// The index that the responder sends to.
    let localIndex: UInt32
    private let ephemeral: X25519PrivateKey
    private let state: SymmetricState

    /// Begins a handshake and makes its first message.
    ///
    /// - Throws: ``X25519Error/lowOrderPoint`` if the peer's key is a point of low order.
    static func begin(
        _ keys: HandshakeKeys,
        localIndex: UInt32,
        ephemeral: X25519PrivateKey,
        timestamp: Timestamp
    ) throws(X25519Error) -> (InitiatorHandshake, InitiationMessage) {
        var state = SymmetricState(responder: keys.remote)
        state.mix(ephemeral: ephemeral.publicKey)
        let staticKey = state.mixAndDerive(try ephemeral.sharedSecret(with: keys.remote))
        let sealedStatic = state.seal(keys.local.publicKey.bytes, with: staticKey)
        let timestampKey = state.mixAndDerive(keys.staticSecret)
        let sealedTimestamp = state.seal(timestamp.bytes, with: timestampKey)
        let message = InitiationMessage(
            sender: localIndex,
            ephemeral: ephemeral.publicKey.bytes,
            sealedStatic: sealedStatic,
            sealedTimestamp: sealedTimestamp
        )
        return (InitiatorHandshake(localIndex: localIndex, ephemeral: ephemeral, state: state), message)
    }

    /// Returns the session that a response completes; nil if the response is not authentic.
    func finish(_ response: ResponseMessage, _ keys: HandshakeKeys) -> DerivedSession? {
        do {
            let remote = try X25519PublicKey(rawRepresentation: response.ephemeral)
            var state = state
            state.mix(ephemeral: remote)
            state.mix(try ephemeral.sharedSecret(with: remote))
            state.mix(try keys.local.sharedSecret(with: remote))
            let key = state.mixAndDerive(keys.preshared)
            guard state.open(response.sealedNothing[...], with: key) != nil else { return nil }
            let derived = state.split()
            return DerivedSession(
                remoteIndex: response.sender,
                sendingKey: derived.initiator,
                receivingKey: derived.responder
            )
        } catch {
            return nil
        }
    }
}
