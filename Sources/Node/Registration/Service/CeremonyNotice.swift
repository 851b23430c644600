package import Bytes

/// A ceremony that a person completes on a page of the identity server, for a program without passkeys.
package struct CeremonyNotice: Equatable, Sendable {
    /// The public name of the ceremony.
    package let id: String
    /// The secret with which this program alone fetches the token.
    package let secret: SecretBytes
    /// The six digits that page and program show, for the person to compare.
    package let number: String
    /// The address of the page.
    package let link: String
    /// The time in seconds since 1970 at which the ceremony ends.
    package let expires: UInt64

    package init(id: String, secret: SecretBytes, number: String, link: String, expires: UInt64) {
        self.id = id
        self.secret = secret
        self.number = number
        self.link = link
        self.expires = expires
    }
}

/// The state of a ceremony on a page.
package enum CeremonyProgress: Equatable, Sendable {
    /// The person has not completed it.
    case waiting
    /// The person completed it; reported once.
    case signedIn(SignedIn)
    /// The server refused the passkey.
    case failed(code: String, message: String)
}
