package import Identity

/// An account of an identity server, for its owner.
package struct AccountReport: Codable, Hashable, Sendable {
    package let userId: UserId
    package let handle: QualifiedHandle
    package let did: DIDKey
    /// The second since 1970 of the registration.
    package let created: UInt64
    /// The number of passkeys.
    package let passkeys: Int
    /// The number of sessions that have not ended.
    package let sessions: Int

    package init(
        userId: UserId,
        handle: QualifiedHandle,
        did: DIDKey,
        created: UInt64,
        passkeys: Int,
        sessions: Int
    ) {
        self.userId = userId
        self.handle = handle
        self.did = did
        self.created = created
        self.passkeys = passkeys
        self.sessions = sessions
    }
}

/// A public key that verifies the tokens of an identity server.
package struct TokenKeyReport: Codable, Hashable, Sendable {
    /// The name of the key: 32 hexadecimal digits.
    package let id: String
    /// The compressed point on P-256, in base64url.
    package let publicKey: String
    /// The last second since 1970 at which the key is good; nil for the key in use.
    package let until: UInt64?

    package init(id: String, publicKey: String, until: UInt64?) {
        self.id = id
        self.publicKey = publicKey
        self.until = until
    }
}

/// The keys of an identity server, for services that verify its tokens.
package struct TokenKeysReport: Codable, Hashable, Sendable {
    package let issuer: String
    package let audience: String
    /// The key in use, and then those that are still good.
    package let keys: [TokenKeyReport]

    package init(issuer: String, audience: String, keys: [TokenKeyReport]) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
    }
}

/// A session that ended before it expired.
package struct RevokedSessionReport: Codable, Hashable, Sendable {
    /// The position in the order of the revocations, from 1.
    package let number: UInt64
    package let id: UniqueId
    /// The first second since 1970 at which the revocation no longer matters.
    package let expires: UInt64

    package init(number: UInt64, id: UniqueId, expires: UInt64) {
        self.number = number
        self.id = id
        self.expires = expires
    }
}

/// Revocations after a number, for services that verify tokens.
package struct RevocationsReport: Codable, Hashable, Sendable {
    package let sessions: [RevokedSessionReport]

    package init(sessions: [RevokedSessionReport]) {
        self.sessions = sessions
    }
}
