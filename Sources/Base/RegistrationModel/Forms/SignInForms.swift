package import Identity
package import WebAuthn

/// The options of an authentication, as `navigator.credentials.get` takes them.
package struct RequestOptionsReport: Codable, Hashable, Sendable {
    package let publicKey: CredentialRequestOptions

    package init(publicKey: CredentialRequestOptions) {
        self.publicKey = publicKey
    }
}

/// The form that signs in: the client's response and nothing else.
package typealias AuthenticateForm = AuthenticationResponse

/// The account and its new session, after a registration or an authentication.
package struct SignedInReport: Codable, Hashable, Sendable {
    package let userId: UserId
    package let handle: QualifiedHandle
    package let did: DIDKey
    /// The text of the identity token: its holder is signed in.
    package let token: String
    /// The last second since 1970 at which the token is valid.
    package let expires: UInt64
    package let session: UniqueId

    package init(
        userId: UserId,
        handle: QualifiedHandle,
        did: DIDKey,
        token: String,
        expires: UInt64,
        session: UniqueId
    ) {
        self.userId = userId
        self.handle = handle
        self.did = did
        self.token = token
        self.expires = expires
        self.session = session
    }
}

extension SignedInReport: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the account and not the token.
    package var description: String { "SignedInReport(\(handle), token: redacted)" }

    /// Shows the account and not the token.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The form that ends the session of the token, or all sessions of the account.
package struct RevokeForm: Codable, Hashable, Sendable {
    /// Whether all sessions of the account end.
    package let everywhere: Bool?

    package init(everywhere: Bool? = nil) {
        self.everywhere = everywhere
    }
}

/// The result of resolving a handle, as AT Protocol answers it.
package struct ResolveReport: Codable, Hashable, Sendable {
    package let did: DIDKey

    package init(did: DIDKey) {
        self.did = did
    }
}
