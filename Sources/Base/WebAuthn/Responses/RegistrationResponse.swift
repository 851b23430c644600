internal import Bytes

/// The response to a registration, in the JSON form of Level 3 (RegistrationResponseJSON).
///
/// The members `publicKey`, `publicKeyAlgorithm` and `authenticatorData` are copies of parts of the attestation object,
/// and ignored.
package struct RegistrationResponse: CredentialResponse, Hashable {
    package let id: String
    package let rawId: [UInt8]
    package let type: String
    package let clientDataJSON: [UInt8]
    package let attestationObject: [UInt8]
    /// The ways in which the client can reach the authenticator, which are hints for the next authentication.
    package let transports: [String]
    /// Whether the credential signs in without a name (extension `credProps`), or nil if the client did not report it.
    package let isDiscoverable: Bool?

    package init(
        rawId: [UInt8],
        clientDataJSON: [UInt8],
        attestationObject: [UInt8],
        transports: [String],
        isDiscoverable: Bool?
    ) {
        id = Base64URL.encode(rawId)
        self.rawId = rawId
        type = PublicKeyCredentialType.name
        self.clientDataJSON = clientDataJSON
        self.attestationObject = attestationObject
        self.transports = transports
        self.isDiscoverable = isDiscoverable
    }
}

extension RegistrationResponse: Codable {
    private enum AttestationKeys: String, CodingKey {
        case clientDataJSON
        case attestationObject
        case transports
    }

    private struct ExtensionResults: Codable {
        struct Properties: Codable {
            let rk: Bool?
        }

        let credProps: Properties?
    }

    /// Reads the JSON form; texts are measured before they are decoded, and members of unknown names are ignored.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CredentialResponseKeys.self)
        id = try container.decodeId()
        rawId = try container.decodeBytes(forKey: .rawId, limit: AuthenticatorData.credentialIdByteLimit)
        type = try container.decodeType()
        let response = try container.nestedContainer(keyedBy: AttestationKeys.self, forKey: .response)
        clientDataJSON = try response.decodeBytes(
            forKey: .clientDataJSON,
            limit: CollectedClientData.maximumByteCount
        )
        attestationObject = try response.decodeBytes(
            forKey: .attestationObject,
            limit: AttestationObject.maximumByteCount
        )
        transports = try Transports.decode(from: response, forKey: .transports)
        let results = try container.decodeIfPresent(ExtensionResults.self, forKey: .clientExtensionResults)
        isDiscoverable = results?.credProps?.rk
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CredentialResponseKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(bytes: rawId, forKey: .rawId)
        try container.encode(type, forKey: .type)
        var response = container.nestedContainer(keyedBy: AttestationKeys.self, forKey: .response)
        try response.encode(bytes: clientDataJSON, forKey: .clientDataJSON)
        try response.encode(bytes: attestationObject, forKey: .attestationObject)
        try response.encode(transports, forKey: .transports)
        let properties = isDiscoverable.map { ExtensionResults.Properties(rk: $0) }
        try container.encode(ExtensionResults(credProps: properties), forKey: .clientExtensionResults)
    }
}
