/// The name of a server in the options of a registration.
package struct RelyingPartyEntity: Codable, Hashable, Sendable {
    /// A domain, which the origins of the server's pages must end with.
    package let id: String
    /// A name for people.
    package let name: String
}
