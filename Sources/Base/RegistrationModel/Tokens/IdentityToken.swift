package import Identity

/// The claims of an identity token, which a server issues when a person signs in.
///
/// The binary form is the payload of the draft "NTDF token" of Arkavo. In transport it is sealed, see
/// ``IdentityTokenSealer``.
package struct IdentityToken: Hashable, Sendable {
    /// Facts about the sign-in.
    ///
    /// Bits without a name are kept.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) {
            self.rawValue = rawValue
        }

        package static let profile = Flags(rawValue: 0x01)
        package static let openId = Flags(rawValue: 0x02)
        package static let email = Flags(rawValue: 0x04)
        package static let offline = Flags(rawValue: 0x08)
        package static let deviceAttested = Flags(rawValue: 0x10)
        package static let biometric = Flags(rawValue: 0x20)
        package static let webAuthn = Flags(rawValue: 0x40)
        package static let platformSecure = Flags(rawValue: 0x80)
    }

    /// A number that the issuer states about the account.
    package struct Attribute: Hashable, Sendable {
        /// The meaning of an attribute.
        ///
        /// Numbers without a name are kept.
        package struct Kind: RawRepresentable, Hashable, Sendable {
            package let rawValue: UInt8

            package init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            package static let age = Kind(rawValue: 0)
            package static let tier = Kind(rawValue: 1)
            package static let securityLevel = Kind(rawValue: 2)
            package static let platform = Kind(rawValue: 3)
        }

        package let kind: Kind
        package let value: UInt32

        package init(_ kind: Kind, _ value: UInt32) {
            self.kind = kind
            self.value = value
        }
    }

    /// The most scopes, and the most attributes.
    package static let listLimit = 32
    /// The most bytes of a scope.
    package static let scopeByteLimit = 64
    /// The most bytes of the audience.
    package static let audienceByteLimit = 512
    /// The most bytes of the device's name.
    package static let deviceByteLimit = 255
    /// The most bytes of the binary form that are read.
    package static let byteLimit = 4096

    /// The account.
    package let userId: UserId
    /// The facts about the sign-in.
    package let flags: Flags
    /// The rights that the token gives: texts of RFC 6749, section 3.3, without repetition.
    package let scopes: [String]
    /// At most one attribute of each kind.
    package let attributes: [Attribute]
    /// The name of this token, by which it can be revoked.
    package let tokenId: UniqueId
    /// The second since 1970 at which it was issued.
    package let issued: UInt64
    /// The last second since 1970 at which it is valid.
    package let expires: UInt64
    /// The URL of the service that accepts it.
    package let audience: String
    /// The session to which it belongs.
    package let sessionId: UniqueId?
    /// The name of the device that signed in.
    package let device: String?
    /// The key of the account.
    package let did: DIDKey?

    /// Checks the claims.
    package init(
        userId: UserId,
        flags: Flags,
        scopes: [String] = [],
        attributes: [Attribute] = [],
        tokenId: UniqueId,
        issued: UInt64,
        expires: UInt64,
        audience: String,
        sessionId: UniqueId? = nil,
        device: String? = nil,
        did: DIDKey? = nil
    ) throws(IdentityClaimsError) {
        try Self.check(scopes: scopes)
        try Self.check(attributes: attributes)
        guard issued <= expires, expires <= UnixTime.maximum else { throw .timesOutOfOrder }
        try Self.check(audience, of: "the audience", limit: Self.audienceByteLimit)
        if let device { try Self.check(device, of: "the name of the device", limit: Self.deviceByteLimit) }
        self.userId = userId
        self.flags = flags
        self.scopes = scopes
        self.attributes = attributes
        self.tokenId = tokenId
        self.issued = issued
        self.expires = expires
        self.audience = audience
        self.sessionId = sessionId
        self.device = device
        self.did = did
    }

    private static func check(scopes: [String]) throws(IdentityClaimsError) {
        guard scopes.count <= listLimit else {
            throw .tooMany(of: "scopes", limit: listLimit, found: scopes.count)
        }
        for scope in scopes {
            try check(scope, of: "a scope", limit: scopeByteLimit)
            guard scope.unicodeScalars.allSatisfy({ $0.isASCII && $0 != " " && $0 != "\"" && $0 != "\\" }) else {
                throw .invalidText(of: "a scope", reason: "it has other characters than those of RFC 6749")
            }
        }
        guard Set(scopes).count == scopes.count else { throw .repeated(of: "a scope") }
    }

    private static func check(attributes: [Attribute]) throws(IdentityClaimsError) {
        guard attributes.count <= listLimit else {
            throw .tooMany(of: "attributes", limit: listLimit, found: attributes.count)
        }
        guard Set(attributes.map(\.kind)).count == attributes.count else { throw .repeated(of: "an attribute") }
    }

    private static func check(_ text: String, of claim: String, limit: Int) throws(IdentityClaimsError) {
        let count = text.utf8.count
        guard 1...limit ~= count else { throw .wrongLength(of: claim, limit: limit, found: count) }
        guard text.unicodeScalars.allSatisfy(PlainText.isPlain) else {
            throw .invalidText(of: claim, reason: "it has characters that do not show")
        }
    }
}
