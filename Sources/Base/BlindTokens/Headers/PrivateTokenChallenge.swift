/// A challenge of the scheme `PrivateToken` (RFC 9577, section 2.1) for tokens of any type.
public struct PrivateTokenChallenge: Hashable, Sendable {
    /// The encoded challenge, of which only the token type was read.
    public let challenge: [UInt8]
    /// The issuer's public key in the encoding of the token type; nil if the client must know it otherwise.
    public let tokenKey: [UInt8]?
    /// The time in seconds for which the challenge may be answered; nil without a limit.
    public let maxAge: UInt64?

    /// The token type of the challenge; nil if it has fewer than two bytes.
    public var tokenType: UInt16? { TokenChallenge.tokenType(of: challenge) }

    /// Creates a challenge from encoded fields.
    init(challenge: [UInt8], tokenKey: [UInt8]?, maxAge: UInt64?) {
        self.challenge = challenge
        self.tokenKey = tokenKey
        self.maxAge = maxAge
    }

    /// Creates a challenge for a token of type 0x0002.
    public init(_ challenge: TokenChallenge, key: TokenPublicKey, maxAge: UInt64? = nil) {
        self.init(challenge: challenge.bytes, tokenKey: key.subjectPublicKeyInfo, maxAge: maxAge)
    }
}
