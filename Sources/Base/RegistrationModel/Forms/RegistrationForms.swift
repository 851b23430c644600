internal import Bytes
package import Identity
package import WebAuthn

/// The query for the options of a registration.
package struct RegisterQuery: Codable, Hashable, Sendable {
    /// The form of the answer.
    package enum Shape: String, Codable, Sendable, CaseIterable {
        /// ``FlatChallenge`` in place of ``CreationOptionsReport``.
        case flat
    }

    package let handle: Handle
    package let did: DIDKey
    package let shape: Shape?

    package init(handle: Handle, did: DIDKey, shape: Shape? = nil) {
        self.handle = handle
        self.did = did
        self.shape = shape
    }
}

/// The options of a registration, as `navigator.credentials.create` takes them.
package struct CreationOptionsReport: Codable, Hashable, Sendable {
    package let publicKey: CredentialCreationOptions

    package init(publicKey: CredentialCreationOptions) {
        self.publicKey = publicKey
    }
}

/// The two values of the options that clients of the Arkavo guide read.
package struct FlatChallenge: Codable, Hashable, Sendable {
    /// The challenge in base64url.
    package let challenge: String
    /// The user handle in base64url, `user.id` of the options.
    package let userID: String

    package init(_ options: CredentialCreationOptions) {
        challenge = Base64URL.encode(options.challenge)
        userID = Base64URL.encode(options.user.id)
    }
}

/// The form that creates an account: the members of the client's response, and in the same object the handle, the DID
/// and its proof.
package struct RegisterForm: Hashable, Sendable {
    package let response: RegistrationResponse
    package let handle: Handle
    package let did: DIDKey
    package let didProof: DIDProof

    package init(response: RegistrationResponse, handle: Handle, did: DIDKey, didProof: DIDProof) {
        self.response = response
        self.handle = handle
        self.did = did
        self.didProof = didProof
    }
}

extension RegisterForm: Codable {
    private enum CodingKeys: String, CodingKey {
        case handle
        case did
        case didProof
    }

    /// Reads the object; a handle or DID in another form throws its own error with the rule.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        handle = try container.decode(Handle.self, forKey: .handle)
        did = try container.decode(DIDKey.self, forKey: .did)
        didProof = try container.decode(DIDProof.self, forKey: .didProof)
        response = try RegistrationResponse(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try response.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(handle, forKey: .handle)
        try container.encode(did, forKey: .did)
        try container.encode(didProof, forKey: .didProof)
    }
}
