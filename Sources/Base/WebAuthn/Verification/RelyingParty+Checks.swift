internal import Bytes
internal import Crypto

// The steps that both ceremonies have.
extension RelyingParty {
    /// The kinds of ceremony by their names in client data.
    enum Ceremony: String {
        case create = "webauthn.create"
        case get = "webauthn.get"
    }

    func checkCredential(of response: some CredentialResponse) throws(WebAuthnError) {
        try PublicKeyCredentialType.check(response.type)
        guard response.id.utf8.elementsEqual(Base64URL.encode(response.rawId).utf8) else {
            throw .credentialIdMismatch
        }
    }

    /// Reads the client data and verifies type, challenge, origin, `crossOrigin` and `topOrigin`, in this order.
    func checkClientData(
        _ json: [UInt8],
        of ceremony: Ceremony,
        challenge: [UInt8]
    ) throws(WebAuthnError) {
        checkChallenge(challenge)
        let data = try CollectedClientData(json: json)
        guard data.type == ceremony.rawValue else {
            throw .wrongCeremony(expected: ceremony.rawValue, found: data.type)
        }
        guard ConstantTime.areEqual(data.challenge, challenge) else { throw .wrongChallenge }
        guard Self.contains(data.origin, in: origins) else { throw .originNotAllowed(data.origin) }
        if data.crossOrigin {
            // A client that does not name the outermost page cannot be checked.
            guard !topOrigins.isEmpty, data.topOrigin != nil else { throw .crossOriginNotAllowed }
        }
        if let topOrigin = data.topOrigin, !Self.contains(topOrigin, in: topOrigins) {
            throw .topOriginNotAllowed(topOrigin)
        }
    }

    /// Verifies the relying party's id, the presence and verification of the person, and the backup state, in this order.
    func checkAuthenticatorData(_ data: AuthenticatorData) throws(WebAuthnError) {
        guard data.relyingPartyIdHash.elementsEqual(SHA256.hash(data: Array(id.utf8))) else {
            throw .wrongRelyingParty
        }
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        guard data.flags.contains(.userVerified) || !requiresUserVerification else { throw .userNotVerified }
        guard data.flags.contains(.backupEligible) || !data.flags.contains(.backedUp) else {
            throw .backedUpButNotEligible
        }
    }

    /// The bytes that an authenticator signs.
    static func signedBytes(authenticatorData: [UInt8], clientDataJSON: [UInt8]) -> [UInt8] {
        authenticatorData + SHA256.hash(data: clientDataJSON)
    }

    /// Compares bytes, since texts of different bytes can be equal.
    private static func contains(_ origin: String, in origins: Set<String>) -> Bool {
        origins.contains { $0.utf8.elementsEqual(origin.utf8) }
    }
}
