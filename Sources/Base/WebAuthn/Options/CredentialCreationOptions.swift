/// The options of a registration: the object `publicKey` for `navigator.credentials.create`, in the JSON form of Level 3
/// (PublicKeyCredentialCreationOptionsJSON).
package struct CredentialCreationOptions: Hashable, Sendable {
    /// The most entries of a list.
    package static let listLimit = 64
    /// The most bytes of a challenge.
    package static let challengeByteLimit = 256

    package let rp: RelyingPartyEntity
    package let user: UserEntity
    package let challenge: [UInt8]
    /// The algorithms that the server verifies, the preferred one first.
    package let algorithms: [COSEAlgorithm]
    package let timeoutMilliseconds: UInt32
    /// The credentials of the account, so that an authenticator gets no second one.
    package let excludeCredentials: [CredentialDescriptor]
    package let authenticatorSelection: AuthenticatorSelection
    package let attestation: AttestationPreference
    package let extensions: RequestedExtensions

    init(
        rp: RelyingPartyEntity,
        user: UserEntity,
        challenge: [UInt8],
        algorithms: [COSEAlgorithm],
        timeoutMilliseconds: UInt32,
        excludeCredentials: [CredentialDescriptor],
        userVerification: UserVerification,
        attestation: AttestationPreference
    ) {
        self.rp = rp
        self.user = user
        self.challenge = challenge
        self.algorithms = algorithms
        self.timeoutMilliseconds = timeoutMilliseconds
        self.excludeCredentials = excludeCredentials
        authenticatorSelection = AuthenticatorSelection(userVerification: userVerification)
        self.attestation = attestation
        extensions = RequestedExtensions(credProps: true)
    }
}

extension CredentialCreationOptions: Codable {
    private enum CodingKeys: String, CodingKey {
        case rp
        case user
        case challenge
        case pubKeyCredParams
        case timeout
        case excludeCredentials
        case authenticatorSelection
        case attestation
        case extensions
    }

    private struct Parameter: Codable {
        let type: String
        let alg: Int64
    }

    /// Reads the JSON form; algorithms that this version lacks are left out.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rp = try container.decode(RelyingPartyEntity.self, forKey: .rp)
        user = try container.decode(UserEntity.self, forKey: .user)
        challenge = try container.decodeBytes(forKey: .challenge, limit: Self.challengeByteLimit)
        algorithms = try container.decodeList(of: Parameter.self, forKey: .pubKeyCredParams, limit: Self.listLimit)
            .filter { $0.type == PublicKeyCredentialType.name }
            .compactMap { COSEAlgorithm(rawValue: $0.alg) }
        timeoutMilliseconds = try container.decode(UInt32.self, forKey: .timeout)
        excludeCredentials = try container.decodeList(
            of: CredentialDescriptor.self,
            forKey: .excludeCredentials,
            limit: Self.listLimit
        )
        authenticatorSelection = try container.decode(AuthenticatorSelection.self, forKey: .authenticatorSelection)
        attestation = try container.decode(AttestationPreference.self, forKey: .attestation)
        extensions = try container.decode(RequestedExtensions.self, forKey: .extensions)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rp, forKey: .rp)
        try container.encode(user, forKey: .user)
        try container.encode(bytes: challenge, forKey: .challenge)
        let parameters = algorithms.map { Parameter(type: PublicKeyCredentialType.name, alg: $0.rawValue) }
        try container.encode(parameters, forKey: .pubKeyCredParams)
        try container.encode(timeoutMilliseconds, forKey: .timeout)
        try container.encode(excludeCredentials, forKey: .excludeCredentials)
        try container.encode(authenticatorSelection, forKey: .authenticatorSelection)
        try container.encode(attestation, forKey: .attestation)
        try container.encode(extensions, forKey: .extensions)
    }
}
