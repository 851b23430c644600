internal import Bytes

/// The response to an authentication, in the JSON form of Level 3 (AuthenticationResponseJSON).
package struct AuthenticationResponse: CredentialResponse, Hashable {
    /// The most bytes of a signature: one by an RSA key of 4096 bits has 512.
    package static let signatureByteLimit = 1_024

    package let id: String
    package let rawId: [UInt8]
    package let type: String
    package let clientDataJSON: [UInt8]
    package let authenticatorData: [UInt8]
    package let signature: [UInt8]
    /// The user handle that the authenticator stored; always present if the credential was found without a name.
    package let userHandle: [UInt8]?

    package init(
        rawId: [UInt8],
        clientDataJSON: [UInt8],
        authenticatorData: [UInt8],
        signature: [UInt8],
        userHandle: [UInt8]?
    ) {
        id = Base64URL.encode(rawId)
        self.rawId = rawId
        type = PublicKeyCredentialType.name
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }
}

extension AuthenticationResponse: Codable {
    private enum AssertionKeys: String, CodingKey {
        case clientDataJSON
        case authenticatorData
        case signature
        case userHandle
    }

    private struct ExtensionResults: Codable {}

    /// Reads the JSON form; texts are measured before they are decoded, and members of unknown names are ignored.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CredentialResponseKeys.self)
        id = try container.decodeId()
        rawId = try container.decodeBytes(forKey: .rawId, limit: AuthenticatorData.credentialIdByteLimit)
        type = try container.decodeType()
        let response = try container.nestedContainer(keyedBy: AssertionKeys.self, forKey: .response)
        clientDataJSON = try response.decodeBytes(
            forKey: .clientDataJSON,
            limit: CollectedClientData.maximumByteCount
        )
        authenticatorData = try response.decodeBytes(
            forKey: .authenticatorData,
            limit: AuthenticatorData.maximumByteCount
        )
        signature = try response.decodeBytes(forKey: .signature, limit: Self.signatureByteLimit)
        // Some clients write null, others leave the member out.
        if try response.decodeIfPresent(String.self, forKey: .userHandle) != nil {
            userHandle = try response.decodeBytes(
                forKey: .userHandle,
                limit: UserEntity.handleByteCounts.upperBound
            )
        } else {
            userHandle = nil
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CredentialResponseKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(bytes: rawId, forKey: .rawId)
        try container.encode(type, forKey: .type)
        var response = container.nestedContainer(keyedBy: AssertionKeys.self, forKey: .response)
        try response.encode(bytes: clientDataJSON, forKey: .clientDataJSON)
        try response.encode(bytes: authenticatorData, forKey: .authenticatorData)
        try response.encode(bytes: signature, forKey: .signature)
        if let userHandle { try response.encode(bytes: userHandle, forKey: .userHandle) }
        try container.encode(ExtensionResults(), forKey: .clientExtensionResults)
    }
}
