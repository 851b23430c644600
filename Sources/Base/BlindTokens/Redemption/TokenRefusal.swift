public import Failures

/// The reasons for which a gateway refuses a token.
public enum TokenRefusal: Error, Hashable, Sendable, CaseIterable {
    /// The token does not have 354 bytes; it is neither padded nor cut.
    case wrongSize
    /// The token is of another type than 0x0002.
    case wrongType
    /// The token is under a key that is not accepted.
    case otherKey
    /// The token is for another issuer or another exit.
    case otherChallenge
    /// The token is for another epoch of this exit.
    case otherEpoch
    /// The signature does not verify.
    case forged
}

extension TokenRefusal: CodedError, CustomStringConvertible {
    /// The refusal in words, with the next step.
    public var description: String {
        switch self {
        case .wrongSize: "the token does not have \(Token.byteCount) bytes; send the whole token"
        case .wrongType: "the token is of another type; use one of type 2"
        case .otherKey: "the token is under a key that is not accepted here; request tokens with the present key"
        case .otherChallenge: "the token is for another exit or from another issuer; use one for this exit"
        case .otherEpoch: "the token is for another epoch; use one of the present epoch"
        case .forged: "the token's signature does not verify; use another token"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .wrongSize, .wrongType: FailureCode("bad-blind-token", .decoding, .data)
        case .otherKey, .otherChallenge, .otherEpoch, .forged:
            FailureCode("blind-token-refused", .badToken, .notPermitted, http: 401)
        }
    }
}
