internal import Bytes

/// The header fields of the HTTP authentication scheme `PrivateToken` (RFC 9577, section 2).
public enum PrivateTokenHeader {
    /// The most bytes of a header that is read.
    public static let byteLimit = AuthenticationScanner.byteLimit

    private static let scheme = "PrivateToken"

    /// Reads the challenges of `WWW-Authenticate`, in order.
    ///
    /// Other schemes, unknown parameters and challenges without a readable parameter `challenge` are ignored. Callers
    /// skip challenges whose token type they do not support.
    ///
    /// - Parameter value: The value of one header line, which may have several challenges.
    /// - Returns: The challenges of the scheme.
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for a text that is not a list of challenges, and above the
    ///   bounds of 16 KiB, 16 challenges and 16 parameters each.
    public static func challenges(inAuthenticate value: String) throws(BlindTokenError) -> [PrivateTokenChallenge] {
        try AuthenticationScanner.challenges(in: value).compactMap { found in
            guard found.scheme == scheme.lowercased(), let challenge = decoded(found["challenge"]) else { return nil }
            return PrivateTokenChallenge(
                challenge: challenge,
                tokenKey: decoded(found["token-key"]),
                maxAge: found["max-age"].flatMap { UInt64($0) }
            )
        }
    }

    /// Returns the value of `WWW-Authenticate` with the challenges.
    public static func authenticateValue(_ challenges: [PrivateTokenChallenge]) -> String {
        challenges.map { challenge in
            var text = "\(scheme) challenge=\"\(Base64URL.encode(challenge.challenge, padded: true))\""
            if let key = challenge.tokenKey { text += ", token-key=\"\(Base64URL.encode(key, padded: true))\"" }
            if let maxAge = challenge.maxAge { text += ", max-age=\"\(maxAge)\"" }
            return text
        }.joined(separator: ", ")
    }

    /// Reads the token of `Authorization`, whose size and type ``TokenVerifier`` checks.
    ///
    /// - Returns: The bytes; nil for credentials of another scheme.
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for a text that is not one set of credentials, or has no
    ///   token in base64url with padding.
    public static func tokenBytes(inAuthorization value: String) throws(BlindTokenError) -> [UInt8]? {
        let found = try AuthenticationScanner.challenges(in: value)
        guard let credentials = found.first, found.count == 1 else {
            throw .malformed(.header, reason: "it has \(found.count) sets of credentials, not 1")
        }
        guard credentials.scheme == scheme.lowercased() else { return nil }
        guard let text = credentials["token"] else {
            throw .malformed(.header, reason: "it has no parameter \"token\"")
        }
        guard let token = decoded(text) else {
            throw .malformed(.header, reason: "its token is not base64url with padding")
        }
        return token
    }

    /// Returns the value of `Authorization` with the token.
    public static func authorizationValue(_ token: Token) -> String {
        "\(scheme) token=\"\(Base64URL.encode(token.bytes, padded: true))\""
    }

    /// Returns the bytes of a parameter; nil if it is missing or unreadable, which counts as missing.
    private static func decoded(_ text: String?) -> [UInt8]? {
        guard let text else { return nil }
        return try? Base64URL.decode(text, padding: .required)  // see above
    }
}
