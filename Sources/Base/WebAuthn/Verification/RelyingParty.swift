/// A server that registers and verifies passkeys (Web Authentication Level 3, section 7).
///
/// It is a value without state: the caller keeps challenges (each for one ceremony and a short time) and credentials, and
/// decides in the transaction that stores a credential that no account has its id.
package struct RelyingParty: Hashable, Sendable {
    /// The fewest bytes of a challenge.
    package static let challengeByteMinimum = 16

    /// The domain for which credentials are made.
    package let id: String
    /// The name for people.
    package let name: String
    /// The exact origins of its pages, such as `https://example.org` or `http://localhost:8080`, and of its apps, such as
    /// `android:apk-key-hash:…`.
    package let origins: Set<String>
    /// The origins of pages of others that may show its pages in a frame.
    package var topOrigins: Set<String> = []
    /// The algorithms that it offers and accepts, the preferred one first.
    package var algorithms: [COSEAlgorithm] = [.es256, .eddsa, .rs256]
    /// Whether an authenticator must verify the person.
    package var requiresUserVerification = true
    /// Whether a credential that could not be backed up may become one that can.
    package var allowsBackupEligibilityUpgrade = false
    /// The time in which a person should finish a ceremony.
    package var timeoutMilliseconds: UInt32 = 300_000

    package init(id: String, name: String, origins: Set<String>) {
        self.id = id
        self.name = name
        self.origins = origins
    }

    /// Returns the options with which a client registers a credential for `user`.
    package func creationOptions(
        for user: UserEntity,
        challenge: [UInt8],
        excluding credentials: [CredentialDescriptor] = [],
        attestation: AttestationPreference = .none
    ) -> CredentialCreationOptions {
        checkChallenge(challenge)
        return CredentialCreationOptions(
            rp: RelyingPartyEntity(id: id, name: name),
            user: user,
            challenge: challenge,
            algorithms: algorithms,
            timeoutMilliseconds: timeoutMilliseconds,
            excludeCredentials: credentials,
            userVerification: userVerification,
            attestation: attestation
        )
    }

    /// Returns the options with which a client signs in; without `credentials`, the person chooses one.
    package func requestOptions(
        challenge: [UInt8],
        allowing credentials: [CredentialDescriptor] = []
    ) -> CredentialRequestOptions {
        checkChallenge(challenge)
        return CredentialRequestOptions(
            challenge: challenge,
            timeoutMilliseconds: timeoutMilliseconds,
            rpId: id,
            allowCredentials: credentials,
            userVerification: userVerification
        )
    }

    private var userVerification: UserVerification { requiresUserVerification ? .required : .preferred }

    func checkChallenge(_ challenge: [UInt8]) {
        let minimum = Self.challengeByteMinimum
        precondition(challenge.count >= minimum, "a challenge of \(challenge.count) bytes can be guessed")
    }
}
