internal import CryptoExtras

/// A token between its request and the response of the issuer.
///
/// It has no encoding: one that a crash interrupts is dropped, and the client makes a new request with a new nonce. The
/// blinding factor exists only in the memory of the process.
public struct PendingToken: Sendable {
    /// The message for the signature.
    public let input: TokenInput
    /// The issuer's key that signs it.
    public let key: TokenPublicKey
    /// The request.
    public let request: TokenRequest
    /// An immutable value of bytes, whose type is not declared Sendable.
    private nonisolated(unsafe) let inverse: _RSA.BlindSigning.BlindingInverse

    /// Blinds the input for `key`.
    init(blinding input: TokenInput, for key: TokenPublicKey) throws(BlindTokenError) {
        let blinded = try key.blind(input)
        request = try TokenRequest(truncatedKeyId: key.keyId.truncated, blindedMessage: blinded.message)
        self.input = input
        self.key = key
        unsafe inverse = blinded.inverse
    }

    /// Returns the token of a response whose signature verifies.
    func token(unblinding response: TokenResponse) throws(BlindTokenError) -> Token {
        let signature = try unsafe key.unblind(response, for: input, with: inverse)
        return try Token(input: input, authenticator: signature)
    }
}

extension PendingToken: CustomStringConvertible, CustomReflectable {
    /// Always `PendingToken(redacted)`.
    public var description: String { "PendingToken(redacted)" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
