internal import Failures
internal import Identity

/// Why an issuer refuses a request.
enum TokenIssuerError: Error, Hashable, Sendable {
    /// The issuer did not make the voucher.
    case badVoucher
    case voucherExpired
    /// The entitlement has fewer tokens left in this epoch than the request has.
    case allowanceUsed(remaining: Int, nextEpoch: UInt64)
    /// The body is not a token request of type 0x0002 or a batch of them, or a blinded message is not below the modulus.
    case badTokenRequest
    /// No live key has the truncated key id of the request.
    case unknownTokenKey
    /// The media type of the body is none of token requests.
    case badMediaType
    /// The request accepts no media type of the answer.
    case notAcceptable
    /// The source sent too many requests.
    case tooManyRequests
    /// Too much work waits.
    case busy
    /// A signature failed its own check.
    case signingFailed
    /// The issuer has no settings for purchases.
    case purchasesNotConfigured
    /// The metrics are requested from elsewhere, or with another token.
    case metricsRefused
}

extension TokenIssuerError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    var description: String {
        switch self {
        case .badVoucher: "the voucher is not one of this issuer: ask its operator for another one"
        case .voucherExpired: "the voucher has expired: ask the operator for another one"
        case .allowanceUsed(remaining: 0, let nextEpoch):
            "no tokens of this epoch are left: wait until \(CivilTime(seconds: nextEpoch))"
        case .allowanceUsed(let remaining, let nextEpoch):
            "\(remaining) tokens of this epoch are left: request at most that many, or wait until "
                + "\(CivilTime(seconds: nextEpoch))"
        case .badTokenRequest:
            "the body is not a token request of type 2, or not a batch of 1 to 128 of them: send it as RFC 9578 states"
        case .unknownTokenKey: "no key has the truncated key id of the request: fetch the directory again"
        case .badMediaType:
            "the body is of another media type: send Content-Type: application/private-token-request, or that of a batch"
        case .notAcceptable: "the answer would be application/private-token-response: accept that media type"
        case .tooManyRequests: "too many requests from this address: wait a minute, and try again"
        case .busy: "too many requests wait for a signature: try again in some seconds"
        case .signingFailed: "a signature failed its check: try again, and contact the operator if it fails again"
        case .purchasesNotConfigured: "this issuer takes vouchers alone: ask its operator for one"
        case .metricsRefused:
            "the metrics are for this machine, or, if a metrics token is set, for requests with it: send Authorization: Bearer TOKEN"
        }
    }

    var failureCode: FailureCode {
        switch self {
        case .badVoucher: FailureCode("bad-voucher", .badToken, .notPermitted, http: 401)
        case .voucherExpired: FailureCode("voucher-expired", .badToken, .notPermitted, http: 401)
        case .allowanceUsed: FailureCode("allowance-used", .refused, .tryAgain, http: 429)
        case .badTokenRequest: FailureCode("bad-token-request", .decoding, .data)
        case .unknownTokenKey: FailureCode("unknown-token-key", .refused, .data)
        case .badMediaType: FailureCode("bad-media-type", .invalidParameters, .usage, http: 415)
        case .notAcceptable: FailureCode("not-acceptable", .invalidParameters, .usage, http: 406)
        case .tooManyRequests: FailureCode("too-many-requests", .busy, .tryAgain, http: 429)
        case .busy: FailureCode("issuer-busy", .busy, .tryAgain)
        case .signingFailed: FailureCode("signing-failed", .unknown, .software)
        case .purchasesNotConfigured: FailureCode("purchases-not-configured", .unsupported, .noInput)
        case .metricsRefused: FailureCode("metrics-refused", .refused, .notPermitted)
        }
    }
}
