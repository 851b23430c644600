/// The five steps from a challenge to a token that its holder can redeem, in order.
///
/// The issuer sees only the output of the third step, the gateway only the result of the fourth, and no value links the
/// two (RFC 9474, section 7). The token is RSABSSA-SHA384-PSS-Deterministic over an input that contains a random nonce.
public enum CryptoUtils {
    /// Makes the message of a new token: type, random nonce, challenge digest and key id.
    public static func makeTokenInput(
        for challenge: TokenChallenge,
        key: TokenPublicKey,
        using random: inout some RandomNumberGenerator
    ) -> TokenInput {
        TokenInput(challengeDigest: challenge.challengeDigest, keyId: key.keyId, using: &random)
    }

    /// Blinds the message with a factor from the system's random numbers.
    ///
    /// - Throws: ``BlindTokenError/wrongKey`` for an input with the id of another key, and
    ///   ``BlindTokenError/cryptographyFailed``.
    public static func blind(
        _ input: TokenInput,
        for key: TokenPublicKey
    ) throws(BlindTokenError) -> PendingToken {
        guard input.keyId == key.keyId else { throw .wrongKey }
        return try PendingToken(blinding: input, for: key)
    }

    /// Returns the 259 bytes that are sent to the issuer; several requests form a ``TokenBatchRequest``.
    public static func requestBytes(of pending: PendingToken) -> [UInt8] { pending.request.bytes }

    /// Removes the blinding factor from the response of the issuer, 256 bytes, and verifies the signature.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` or ``BlindTokenError/invalidSignature``.
    public static func unblind(_ response: [UInt8], for pending: PendingToken) throws(BlindTokenError) -> Token {
        try pending.token(unblinding: TokenResponse(response))
    }

    /// Whether the token names the key, and the signature of the key verifies.
    public static func verify(_ token: Token, with key: TokenPublicKey) -> Bool {
        token.input.keyId == key.keyId && key.isValid(token.authenticator, for: token.input)
    }
}
