package import CircleModel
package import Failures
package import Identity
package import Platform
package import RegistrationModel

/// Why a step of a registration stopped; the flow keeps all that was reached.
package enum RegistrationProblem: Error, Hashable, Sendable {
    /// The checkbox of the agreement is not checked.
    case agreementNotAccepted
    /// The person accepted another version of the agreement than the present one.
    case agreementChanged(version: String)
    /// The handle breaks a rule.
    case handle(HandleError)
    /// The name for the profile cannot be used.
    case name(CircleError)
    /// Another person has the handle.
    case handleTaken(QualifiedHandle)
    /// The DID belongs to an account with another handle.
    case didTaken(DIDKey)
    /// The sign-in led to another account.
    case otherAccount(QualifiedHandle)
    /// The handle is one of another operator.
    case otherDomain(String)
    /// The server offers passkeys for another relying party.
    case otherRelyingParty(String)
    /// The key of the DID is not the one that this registration began with.
    case otherKey(DIDKey)
    /// The passkey was not made or did not sign.
    case passkey(PasskeyError)
    /// The identity server did not do what was asked.
    case service(IdentityServiceError)
    /// The keys were not stored or read.
    case keychain(KeychainError)
    /// The state of the registration was not stored, so the next step did not begin.
    case notSaved(reason: String)
    /// The profile was not stored.
    case profile(reason: String)
}

extension RegistrationProblem: CodedError, CustomStringConvertible {
    /// The failure in words, and the next step.
    package var description: String {
        switch self {
        case .agreementNotAccepted: "the agreement is not accepted: read it, and check the box to continue"
        case .agreementChanged(let version): "the agreement has the new version \(version): read and accept it"
        case .handle(let error): "\(error)"
        case .name(let error): "\(error)"
        case .handleTaken(let handle): "the handle \(handle) belongs to another person: choose another one"
        case .didTaken(let did):
            "\(did) is registered with another handle: sign in to that account, or make a new DID"
        case .otherAccount(let handle):
            "the passkey belongs to the account \(handle): choose the passkey of this account, or sign in to that one"
        case .otherDomain(let text): "\(PlainText.quoted(text)) is no handle of this identity server: check its domain"
        case .otherRelyingParty(let id):
            "the server offers passkeys for \(PlainText.quoted(id)): check the address of the identity server"
        case .otherKey(let did):
            "the key of \(did) is no longer on this device: choose the handle again to register with the present key"
        case .passkey(let error): "\(error)"
        case .service(let error): "\(error)"
        case .keychain(let error): "\(error)"
        case .notSaved(let reason): "the registration cannot be stored: \(reason); make room, and try again"
        case .profile(let reason): "the profile cannot be stored: \(reason); try again"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .agreementNotAccepted: FailureCode("agreement-not-accepted", .refused, .notPermitted)
        case .agreementChanged: FailureCode("agreement-changed", .refused, .notPermitted)
        case .handle(let error): error.failureCode
        case .name(let error): error.failureCode
        case .handleTaken: FailureCode("handle-taken", .refused, .cannotCreate)
        case .didTaken: FailureCode("did-taken", .refused, .cannotCreate)
        case .otherAccount: FailureCode("other-account", .refused, .notPermitted)
        case .otherDomain: FailureCode("other-domain", .invalidParameters, .usage)
        case .otherRelyingParty: FailureCode("other-relying-party", .refused, .notPermitted)
        case .otherKey: FailureCode("other-did-key", .keychain, .data)
        case .passkey(let error): error.failureCode
        case .service(let error): error.failureCode
        case .keychain(let error): error.failureCode
        case .notSaved: FailureCode("registration-not-stored", .io, .inputOutput)
        case .profile: FailureCode("profile-not-stored", .storage, .inputOutput)
        }
    }
}

extension RegistrationProblem {
    /// Whether no server could be reached.
    var isOffline: Bool {
        guard case .service(let error) = self else { return false }
        return error.isOffline
    }
}
