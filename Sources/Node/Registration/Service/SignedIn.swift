package import Bytes

/// An account with a token for it.
package struct SignedIn: Equatable, Sendable {
    package let account: ArkavoCredentials
    /// The text of the token.
    package let token: SecretBytes
    /// The last second since 1970 at which the token is valid.
    package let expires: UInt64

    package init(account: ArkavoCredentials, token: SecretBytes, expires: UInt64) {
        self.account = account
        self.token = token
        self.expires = expires
    }
}
