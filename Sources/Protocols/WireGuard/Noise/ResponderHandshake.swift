internal import Bytes
internal import Crypto
internal import CryptoPrimitives

/// The responder's state of a handshake, which begins with an initiation and ends with the response.
///
/// The initiator's static key is encrypted, so reading has two steps: the key, and with its peer's secret the rest.
struct ResponderHandshake: Sendable {
    /// The initiator's static key, which is authentic only after ``timestamp(_:staticSecret:)``.
    let remote: X25519PublicKey
    private let remoteIndex: UInt32
    private let remoteEphemeral: X25519PublicKey
    private let sealedTimestamp: [UInt8]
    private var state: SymmetricState

    /// Reads the initiator's static key; nil if the message is not for the local key.
    init?(_ message: InitiationMessage, local: X25519PrivateKey) {
        do {
            let ephemeral = try X25519PublicKey(rawRepresentation: message.ephemeral)
            var state = SymmetricState(responder: local.publicKey)
            state.mix(ephemeral: ephemeral)
            let key = state.mixAndDerive(try local.sharedSecret(with: ephemeral))
            guard let remote = state.open(message.sealedStatic[...], with: key) else { return nil }
            self.remote = try X25519PublicKey(rawRepresentation: remote)
            remoteIndex = message.sender
            remoteEphemeral = ephemeral
            sealedTimestamp = message.sealedTimestamp
            self.state = state
        } catch {
            return nil
        }
    }

    /// Returns the timestamp of the initiation; nil if the initiator does not have the static key.
    mutating func timestamp(staticSecret: SecretBytes) -> Timestamp? {
        let key = state.mixAndDerive(staticSecret)
        return state.open(sealedTimestamp[...], with: key).flatMap { Timestamp($0) }
    }

    /// Makes the response and the session; nil if the initiator sent a point of low order.
    func respond(
        localIndex: UInt32,
        ephemeral: X25519PrivateKey,
        preshared: PresharedKey
    ) -> (ResponseMessage, DerivedSession)? {
        do {
            var state = state
            state.mix(ephemeral: ephemeral.publicKey)
            state.mix(try ephemeral.sharedSecret(with: remoteEphemeral))
            state.mix(try ephemeral.sharedSecret(with: remote))
            let key = state.mixAndDerive(preshared)
            let message = ResponseMessage(
                sender: localIndex,
                receiver: remoteIndex,
                ephemeral: ephemeral.publicKey.bytes,
                sealedNothing: state.seal([], with: key)
            )
            let derived = state.split()
            let session = DerivedSession(
                remoteIndex: remoteIndex,
                sendingKey: derived.responder,
                receivingKey: derived.initiator
            )
            return (message, session)
        } catch {
            return nil
        }
    }
}
