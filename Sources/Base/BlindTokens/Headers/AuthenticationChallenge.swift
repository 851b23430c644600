/// One challenge, or the credentials, of an HTTP authentication scheme (RFC 9110, section 11).
struct AuthenticationChallenge: Hashable {
    /// A parameter; its name is in lower case.
    struct Parameter: Hashable {
        let name: String
        let value: String
    }

    /// The scheme in lower case.
    let scheme: String
    var parameters: [Parameter] = []

    /// The value of a parameter; nil without it.
    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
}
