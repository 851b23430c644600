internal import Failures
internal import RegistrationModel

/// Why the server refuses a request.
enum IdentityServerError: Error, Hashable, Sendable {
    /// The path and the query, or the form and the challenge, name two handles.
    case handleMismatch
    case challenge(ChallengeError)
    /// The sign-in failed. The error is equal for all causes that depend on the account.
    case notSignedIn
    /// The account of the token no longer exists, or its session has ended.
    case sessionEnded
    /// The label of a passkey has no characters, too many or some that do not show.
    case badLabel
    /// The bucket of an address or of a handle is empty.
    case tooManyRequests
    /// As many ceremonies of commands are in progress as may be.
    case tooManyCeremonies
    /// The ceremony of a command ended, expired or never began.
    case noSuchCeremony
    /// The metrics are requested from elsewhere, or with another token.
    case metricsRefused
    /// The handle has no account.
    case handleNotFound
}

extension IdentityServerError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    var description: String {
        switch self {
        case .handleMismatch: "the request names two handles: use one handle from the beginning to the end"
        case .challenge(let error): error.description
        case .notSignedIn: "no account was signed in with this passkey: choose another one, or register"
        case .sessionEnded: "the session has ended: sign in again"
        case .badLabel: "the name of a passkey has 1 to 64 characters that show: choose another one"
        case .tooManyRequests: "too many requests from this address or for this handle: wait a minute, and try again"
        case .tooManyCeremonies: "too many ceremonies of commands are in progress: finish one, or wait ten minutes"
        case .noSuchCeremony: "the link is no longer good: begin again in the command"
        case .metricsRefused: "the metrics are for this machine, or for requests with the metrics token"
        case .handleNotFound: "no account has this handle: check its spelling"
        }
    }

    var failureCode: FailureCode {
        switch self {
        case .handleMismatch: FailureCode("handle-mismatch", .invalidParameters, .usage)
        case .challenge(let error): error.failureCode
        case .notSignedIn: FailureCode("not-signed-in", .refused, .notPermitted)
        case .sessionEnded: FailureCode("session-ended", .badToken, .notPermitted, http: 401)
        case .badLabel: FailureCode("bad-label", .invalidParameters, .usage)
        case .tooManyRequests: FailureCode("too-many-requests", .busy, .tryAgain, http: 429)
        case .tooManyCeremonies: FailureCode("too-many-ceremonies", .busy, .tryAgain, http: 429)
        case .noSuchCeremony: FailureCode("no-ceremony", .refused, .noInput)
        case .metricsRefused: FailureCode("metrics-refused", .refused, .notPermitted)
        case .handleNotFound: FailureCode("handle-not-found", .unknown, .noInput)
        }
    }
}
