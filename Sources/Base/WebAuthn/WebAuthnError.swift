package import Failures
internal import Identity

/// Why a passkey was not registered, or did not sign in.
package enum WebAuthnError: Error, Hashable, Sendable {
    /// A part of a response, or of a stored credential, is not in its format.
    case malformed(of: String, reason: String)
    /// A part of a response has `found` bytes or characters, where `limit` are read.
    case tooLong(String, limit: Int, found: Int)
    /// The credential's type is not `public-key`.
    case wrongCredentialType(String)
    /// The text `id` is not the base64url form of `rawId`, or the attested credential has another id.
    case credentialIdMismatch
    /// The client data belong to another kind of ceremony.
    case wrongCeremony(expected: String, found: String)
    /// The response is to another challenge.
    case wrongChallenge
    /// The ceremony ran on a page or in an app that is not this server's.
    case originNotAllowed(String)
    /// The ceremony ran in a frame of a page of another origin.
    case crossOriginNotAllowed
    /// The ceremony ran in a frame of this page, which is not among those expected.
    case topOriginNotAllowed(String)
    /// The authenticator signed for another relying party.
    case wrongRelyingParty
    /// The authenticator did not test that a person is present.
    case userNotPresent
    /// The authenticator did not verify the person by PIN, fingerprint or face.
    case userNotVerified
    /// The authenticator reports a backup of a credential that cannot be backed up.
    case backedUpButNotEligible
    /// The key is for an algorithm (by its COSE number) that the server did not offer.
    case algorithmNotOffered(Int64)
    /// The registration has no attested credential.
    case noAttestedCredential
    /// The server does not verify attestations of this format.
    case attestationFormatNotSupported(String)
    /// The attestation statement does not verify.
    case invalidAttestation(reason: String)
    /// The response is by a credential other than those that the server asked for.
    case credentialNotAllowed
    /// The response names another user than the owner of the credential.
    case userHandleMismatch
    /// The response names no user, although the server has not identified one.
    case userHandleMissing
    /// The credential can be backed up now and could not before, or the other way round.
    case backupEligibilityChanged(isEligible: Bool)
    /// The signature does not match the credential's key.
    case badSignature
    /// The counter did not increase, so there may be a copy of the authenticator.
    case counterDidNotIncrease(stored: UInt32, received: UInt32)
}

extension WebAuthnError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    package var description: String {
        switch self {
        case .malformed(let subject, let reason):
            "\(subject) cannot be read: \(reason); update the browser or app, and try again"
        case .tooLong(let subject, let limit, let found):
            "\(subject) has a size of \(found), where at most \(limit) is read; use another passkey"
        case .wrongCredentialType(let type):
            "this is a credential of type \(PlainText.quoted(type)), not a passkey; use a passkey"
        case .credentialIdMismatch:
            "the response names two different passkeys; update the browser or app, and try again"
        case .wrongCeremony(let expected, let found):
            "this is the response to \(PlainText.quoted(found)), not to \(expected); begin again"
        case .wrongChallenge:
            "this response is to another request; begin again"
        case .originNotAllowed(let origin):
            "the passkey was used at \(PlainText.quoted(origin)), which is not this server: it may be an imitation; "
                + "check the address, and begin again there"
        case .crossOriginNotAllowed:
            "the passkey was used in a frame of another page: open this page itself, and begin again"
        case .topOriginNotAllowed(let origin):
            "the passkey was used in a frame of \(PlainText.quoted(origin)): open this page itself, and begin again"
        case .wrongRelyingParty:
            "the authenticator signed for another server; begin again with a passkey of this one"
        case .userNotPresent:
            "the authenticator did not wait for a person; touch it when it asks, or use another passkey"
        case .userNotVerified:
            "the authenticator did not verify the person; set a PIN on the security key, or use one with fingerprint"
        case .backedUpButNotEligible:
            "the authenticator contradicts itself about backups; update it, or use another passkey"
        case .algorithmNotOffered(let algorithm):
            "the passkey uses the algorithm \(algorithm), which this server does not; use another authenticator"
        case .noAttestedCredential:
            "the response contains no new passkey; update the browser or app, and try again"
        case .attestationFormatNotSupported(let format):
            "this server cannot verify attestations of the format \(PlainText.quoted(format)); "
                + "use another authenticator"
        case .invalidAttestation(let reason):
            "the attestation of the authenticator does not verify: \(reason); use another authenticator"
        case .credentialNotAllowed:
            "this passkey is not one of those that the server asked for; choose another one"
        case .userHandleMismatch:
            "this passkey belongs to another account; choose one of this account"
        case .userHandleMissing:
            "the authenticator did not state the account; enter its name, and try again"
        case .backupEligibilityChanged(let isEligible):
            isEligible
                ? "this passkey can be backed up now and could not before; register a new one for this account"
                : "this passkey could be backed up before and no longer can; register a new one for this account"
        case .badSignature:
            "the signature is not of this passkey; try again, or use another passkey"
        case .counterDidNotIncrease(let stored, let received):
            "the counter of this passkey is \(received) after \(stored), so there may be a copy of it; "
                + "sign in with another passkey and remove this one"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed: FailureCode("bad-passkey-response", .decoding, .data, http: 400)
        case .tooLong: FailureCode("bad-passkey-response", .tooLarge, .data, http: 400)
        case .wrongCredentialType, .credentialIdMismatch, .noAttestedCredential, .wrongCeremony:
            FailureCode("bad-passkey-response", .invalidParameters, .data, http: 400)
        case .wrongChallenge: FailureCode("wrong-passkey-challenge", .refused, .notPermitted)
        case .originNotAllowed, .crossOriginNotAllowed, .topOriginNotAllowed:
            FailureCode("wrong-passkey-origin", .refused, .notPermitted)
        case .wrongRelyingParty: FailureCode("wrong-relying-party", .refused, .notPermitted)
        case .userNotPresent: FailureCode("user-not-present", .refused, .notPermitted)
        case .userNotVerified: FailureCode("user-not-verified", .refused, .notPermitted)
        case .backedUpButNotEligible, .backupEligibilityChanged:
            FailureCode("wrong-backup-state", .refused, .notPermitted)
        case .algorithmNotOffered: FailureCode("algorithm-not-offered", .unsupported, .data, http: 400)
        case .attestationFormatNotSupported: FailureCode("unsupported-attestation", .unsupported, .data, http: 400)
        case .invalidAttestation: FailureCode("bad-attestation", .notAuthentic, .notPermitted)
        case .credentialNotAllowed: FailureCode("passkey-not-allowed", .refused, .notPermitted)
        case .userHandleMismatch, .userHandleMissing: FailureCode("wrong-passkey-user", .refused, .notPermitted)
        case .badSignature: FailureCode("bad-passkey-signature", .notAuthentic, .notPermitted)
        case .counterDidNotIncrease: FailureCode("passkey-may-be-copied", .notAuthentic, .notPermitted)
        }
    }
}
