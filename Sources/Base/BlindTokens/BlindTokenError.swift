public import Failures

/// The reasons for which a token, a key or a message about tokens could not be made or used.
public enum BlindTokenError: Error, Hashable, Sendable {
    /// The structures that an error names.
    public enum Subject: String, CaseIterable, Hashable, Sendable {
        /// A `TokenChallenge` of RFC 9577.
        case challenge = "the token challenge"
        /// A `TokenRequest` of RFC 9578.
        case request = "the token request"
        /// A `TokenResponse` of RFC 9578.
        case response = "the token response"
        /// A `Token` of RFC 9577.
        case token = "the token"
        /// The message that an issuer signs.
        case blindedMessage = "the blinded message"
        /// A `GenericBatchTokenRequest`.
        case batchRequest = "the batch of token requests"
        /// A `GenericBatchTokenResponse`.
        case batchResponse = "the batch of token responses"
        /// A SubjectPublicKeyInfo with id-RSASSA-PSS.
        case publicKey = "the issuer's public key"
        /// A PKCS #8 private key with id-RSASSA-PSS.
        case privateKey = "the issuer's private key"
        /// The token issuer directory.
        case directory = "the issuer directory"
        /// A header field with the scheme `PrivateToken`.
        case header = "the PrivateToken header"
        /// The stored form of a wallet.
        case wallet = "the stored wallet"

        /// The next step after a structure that is not valid.
        fileprivate var nextStep: String {
            switch self {
            case .challenge: "check the names of the issuer and the exit, or get another challenge"
            case .request, .batchRequest, .blindedMessage: "make a new request"
            case .response, .batchResponse: "send the request again, and contact the issuer if it happens again"
            case .token: "use another token"
            case .publicKey, .privateKey: "use the unchanged key"
            case .directory: "read it again later, and contact the issuer if it happens again"
            case .header: "send the field as RFC 9577 states"
            case .wallet: "remove it to begin with an empty one"
            }
        }
    }

    /// The bytes or the text are not a valid `subject`.
    case malformed(Subject, reason: String)
    /// A structure of a fixed size with another number of bytes; it is neither padded nor cut.
    case wrongSize(Subject, expected: Int, found: Int)
    /// The token type is not 0x0002.
    case unsupportedType(UInt16)
    /// A blinded message that is not less than the modulus of the key.
    case messageOutOfRange
    /// The request names another key of the issuer than the one that was used.
    case wrongKey
    /// The signature of the issuer does not verify.
    case invalidSignature
    /// Two live keys of an issuer have the same last byte in their ids, so a request could not name its key.
    case equalTruncatedIds(TokenKeyId, TokenKeyId)
    /// The directory has no key for tokens of type 0x0002 that is valid now.
    case noUsableKey
    /// The issuer's key differs between two paths.
    case keysDiffer(TokenKeyId, path: String, other: TokenKeyId, otherPath: String)
    /// The system's cryptography refused to work.
    case cryptographyFailed
}

extension BlindTokenError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    public var description: String {
        switch self {
        case .malformed(let subject, let reason):
            "\(subject.rawValue) cannot be read: \(reason); \(subject.nextStep)"
        case .wrongSize(let subject, let expected, let found):
            "\(subject.rawValue) must have \(expected) bytes, not \(found); \(subject.nextStep)"
        case .unsupportedType(let type):
            "tokens of type \(type) are not supported; use type 2, blind RSA with 2048 bits"
        case .messageOutOfRange:
            "the blinded message does not fit the key; read the issuer directory again and make a new request"
        case .wrongKey:
            "the request is for another key of the issuer; read the issuer directory again and make a new request"
        case .invalidSignature:
            "the issuer's signature does not verify; make a new request, and do not use this issuer if it happens again"
        case .equalTruncatedIds(let first, let second):
            "the keys \(first) and \(second) end with the same byte; generate another key"
        case .noUsableKey:
            "the issuer lists no key that is valid now; try again later"
        case .keysDiffer(let key, let path, let other, let otherPath):
            "the issuer's key is \(key) over \(path) and \(other) over \(otherPath): a key for one client "
                + "identifies its tokens, so none are requested; try again later, and report it if it stays"
        case .cryptographyFailed:
            "the system's cryptography refused to work; try again, and report it if it stays"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed, .wrongSize: FailureCode("bad-blind-token", .decoding, .data)
        case .unsupportedType: FailureCode("bad-blind-token", .unsupported, .data)
        case .messageOutOfRange, .wrongKey, .equalTruncatedIds:
            FailureCode("bad-blind-token", .invalidParameters, .data)
        case .invalidSignature: FailureCode("bad-blind-token", .notAuthentic, .data)
        case .noUsableKey: FailureCode("no-issuer-key", .noAction, .tryAgain)
        case .keysDiffer: FailureCode("issuer-key-differs", .notAuthentic, .notPermitted)
        case .cryptographyFailed: FailureCode("bad-blind-token", .unknown, .data)
        }
    }
}
