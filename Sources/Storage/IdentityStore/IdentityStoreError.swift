package import Database
package import Failures

/// Why the state of an identity server did not change as was asked, or could not be read.
package enum IdentityStoreError: Error, Hashable, Sendable {
    /// An account has the handle.
    case handleTaken
    /// An account has the DID.
    case didTaken
    /// An account has the passkey.
    case credentialTaken
    /// The id belongs to an account: its registration was repeated.
    case accountExists
    /// The account does not exist, or was deleted.
    case noSuchAccount
    /// The account has no such passkey.
    case noSuchCredential
    /// The passkey is the only one of its account.
    case lastCredential
    /// The account has as many passkeys as it may have.
    case tooManyCredentials(limit: Int)
    /// The counter of the passkey did not increase: the assertion was used before, or the passkey was copied.
    case counterDidNotIncrease(stored: UInt32, found: UInt32)
    /// The session does not exist, has expired, or belongs to another account.
    case noSuchSession
    /// The session ended before it expired.
    case sessionRevoked
    /// The state could not be read or written.
    case storage(StorageError)
}

extension IdentityStoreError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do about it.
    package var description: String {
        switch self {
        case .handleTaken: "the handle is taken: choose another one"
        case .didTaken: "the DID belongs to an account: sign in to it, or register with another key"
        case .credentialTaken: "the passkey belongs to an account: sign in with it, or make another one"
        case .accountExists: "the account is registered: sign in to it"
        case .noSuchAccount: "no account has this id: register one"
        case .noSuchCredential: "no account has this passkey: use another passkey, or register"
        case .lastCredential: "this is the only passkey of the account: add another one before you remove it"
        case .tooManyCredentials(let limit): "the account has \(limit) passkeys, which is the limit: remove one first"
        case .counterDidNotIncrease(let stored, let found):
            """
            the counter of the passkey is \(found) after \(stored), so it may have been copied: sign in with another \
            passkey and remove this one
            """
        case .noSuchSession: "the session has expired: sign in again"
        case .sessionRevoked: "the session was ended: sign in again"
        case .storage(let error): error.description
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .handleTaken: FailureCode("handle-taken", .refused, .cannotCreate)
        case .didTaken: FailureCode("did-taken", .refused, .cannotCreate)
        case .credentialTaken: FailureCode("credential-taken", .refused, .cannotCreate)
        case .accountExists: FailureCode("account-exists", .refused, .cannotCreate)
        case .noSuchAccount: FailureCode("no-account", .unknown, .noInput)
        case .noSuchCredential: FailureCode("no-credential", .unknown, .noInput)
        case .lastCredential: FailureCode("last-credential", .refused, .notPermitted, http: 409)
        case .tooManyCredentials: FailureCode("too-many-credentials", .refused, .notPermitted, http: 409)
        case .counterDidNotIncrease: FailureCode("passkey-copied", .refused, .notPermitted)
        case .noSuchSession: FailureCode("no-session", .refused, .notPermitted, http: 401)
        case .sessionRevoked: FailureCode("session-revoked", .refused, .notPermitted, http: 401)
        case .storage(let error): error.failureCode
        }
    }
}
