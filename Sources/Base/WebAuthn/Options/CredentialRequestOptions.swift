/// The options of an authentication: the object `publicKey` for `navigator.credentials.get`, in the JSON form of Level 3
/// (PublicKeyCredentialRequestOptionsJSON).
package struct CredentialRequestOptions: Hashable, Sendable {
    package let challenge: [UInt8]
    package let timeoutMilliseconds: UInt32
    package let rpId: String
    /// The credentials that may sign; if it is empty, any discoverable one of the relying party.
    package let allowCredentials: [CredentialDescriptor]
    package let userVerification: UserVerification
}

extension CredentialRequestOptions: Codable {
    private enum CodingKeys: String, CodingKey {
        case challenge
        case timeout
        case rpId
        case allowCredentials
        case userVerification
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        challenge = try container.decodeBytes(
            forKey: .challenge,
            limit: CredentialCreationOptions.challengeByteLimit
        )
        timeoutMilliseconds = try container.decode(UInt32.self, forKey: .timeout)
        rpId = try container.decodeText(forKey: .rpId, limit: UserEntity.nameByteLimit)
        allowCredentials = try container.decodeList(
            of: CredentialDescriptor.self,
            forKey: .allowCredentials,
            limit: CredentialCreationOptions.listLimit
        )
        userVerification = try container.decode(UserVerification.self, forKey: .userVerification)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bytes: challenge, forKey: .challenge)
        try container.encode(timeoutMilliseconds, forKey: .timeout)
        try container.encode(rpId, forKey: .rpId)
        try container.encode(allowCredentials, forKey: .allowCredentials)
        try container.encode(userVerification, forKey: .userVerification)
    }
}
