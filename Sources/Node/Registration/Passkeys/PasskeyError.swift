package import Failures

/// Why a passkey was not made or did not sign on this device.
package enum PasskeyError: Error, Hashable, Sendable {
    /// The person closed the dialog, or the time of the options passed.
    case cancelled
    /// The authenticator has a passkey of this account.
    case alreadyExists
    /// The authenticator did not verify the person by PIN, fingerprint or face.
    case notVerified
    /// This device has no passkeys.
    case unsupported
    /// This program may not use passkeys of the server.
    case notAllowed(relyingParty: String)
    /// The system reported another reason.
    case failed(String)
}

extension PasskeyError: CodedError, CustomStringConvertible {
    /// The failure in words, and the next step.
    package var description: String {
        switch self {
        case .cancelled: "the passkey dialog was closed: try again when you are ready"
        case .alreadyExists:
            "a passkey of this account exists already: sign in with it, or delete it in the settings of your passwords"
        case .notVerified:
            "you were not verified: set up a PIN, a fingerprint or your face in the settings, and try again"
        case .unsupported: "this device has no passkeys: use the page of the identity server in a browser"
        case .notAllowed(let relyingParty):
            "this program may not use passkeys of \(relyingParty): check the address of the identity server"
        case .failed(let reason): "the passkey failed: \(reason); try again"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .cancelled: FailureCode("passkey-cancelled", .cancelled, .tryAgain)
        case .alreadyExists: FailureCode("passkey-exists", .refused, .cannotCreate)
        case .notVerified: FailureCode("passkey-not-verified", .keyDenied, .notPermitted)
        case .unsupported: FailureCode("no-passkeys", .unsupported, .configuration)
        case .notAllowed: FailureCode("passkey-not-allowed-here", .refused, .notPermitted)
        case .failed: FailureCode("passkey-failed", .unknown, .tryAgain)
        }
    }
}
