package import Failures
internal import Identity

/// Why a value that a gateway, its directory and its clients exchange was refused.
package enum ExitModelError: Error, Hashable, Sendable {
    /// A text is not in its format.
    case malformed(of: String, reason: String)
    /// A value has another number of bytes than its format prescribes.
    case wrongLength(of: String, expected: Int, found: Int)
    /// A value has more bytes or elements than are read.
    case tooLong(of: String, limit: Int, found: Int)
    /// The signature is not by the expected key over exactly these bytes.
    case badSignature(of: String)
    /// The key of the description is not in the roster of the operator.
    case unlistedGateway
    /// The description is by a gateway of another exit.
    case otherExit(expected: String, found: String)
    /// The description is older than clients accept.
    case stale(ageSeconds: UInt64, limitSeconds: UInt64)
    /// The document was signed in the future by the clock of this device.
    case fromTheFuture(of: String, aheadSeconds: UInt64)
    /// The roster expired at this second since 1970.
    case rosterExpired(at: UInt64)
    /// This system lacks X-Wing, as Apple's systems do before version 26.
    case noXWing
    /// X-Wing refused a key.
    case encapsulationFailed
    /// The private key could not sign.
    case signingFailed
}

extension ExitModelError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step where one exists.
    package var description: String {
        switch self {
        case .malformed(let subject, let reason): "\(subject) cannot be read: \(reason)"
        case .wrongLength(let subject, let expected, let found):
            "\(subject) has \(found) bytes, and must have \(expected)"
        case .tooLong(let subject, let limit, let found):
            "\(subject) has \(found) bytes or elements, and at most \(limit) are read"
        case .badSignature(let subject):
            "the signature of \(subject) is not valid: check the public key of the operator, and try again"
        case .unlistedGateway:
            "the operator's roster does not list the gateway: choose another location, or contact the operator"
        case .otherExit(let expected, let found):
            "the gateway belongs to the exit \(found), not to \(expected): contact the operator"
        case .stale(let age, let limit):
            "the description of the gateway is \(age) s old, and at most \(limit) s are accepted: try again in a minute"
        case .fromTheFuture(let subject, let ahead):
            "\(subject) was signed \(ahead) s in the future: check the clock of this device"
        case .rosterExpired(let second):
            "the operator's roster expired on \(CivilTime(seconds: second)): check the clock of this device, or contact the operator"
        case .noXWing:
            "this system has no X-Wing, which the private exit needs: update the system to version 26 or later"
        case .encapsulationFailed: "X-Wing refused the key: make another key, and try again"
        case .signingFailed: "the key could not sign: check its file, and try again"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed: FailureCode("bad-exit-value", .decoding, .data)
        case .wrongLength: FailureCode("bad-exit-length", .decoding, .data)
        case .tooLong: FailureCode("exit-value-too-long", .tooLarge, .data)
        case .badSignature: FailureCode("bad-exit-signature", .notAuthentic, .data)
        case .unlistedGateway: FailureCode("unlisted-gateway", .notAuthentic, .data)
        case .otherExit: FailureCode("other-exit", .notAuthentic, .data)
        case .stale: FailureCode("stale-description", .badToken, .tryAgain)
        case .fromTheFuture: FailureCode("exit-clock", .badToken, .tryAgain)
        case .rosterExpired: FailureCode("roster-expired", .badToken, .tryAgain)
        case .noXWing: FailureCode("no-x-wing", .unsupported, .configuration)
        case .encapsulationFailed: FailureCode("bad-encapsulation", .decoding, .data)
        case .signingFailed: FailureCode("exit-signing-failed", .unknown, .software)
        }
    }
}
