internal import NanoTDF

/// The URL of an issuer or of an audience, of `http` or `https`, in characters that need no escape in JSON.
struct ServiceURL: Hashable, Sendable {
    let text: String
    /// The scheme, which is half of the place of key access.
    private let scheme: ResourceLocator.Scheme
    /// The host, with the port if there is one.
    private let authority: String

    /// Reads a URL, named `subject` in errors.
    init(_ text: String, of subject: String) throws(IdentityTokenError) {
        guard text.utf8.count <= IdentityToken.audienceByteLimit,
            text.unicodeScalars.allSatisfy({ ("!"..."~").contains($0) && !"\"\\<>^`{|}".unicodeScalars.contains($0) })
        else { throw .invalidConfiguration(reason: "\(subject) is not a URL") }
        let locator: ResourceLocator
        do {
            let end = text.dropFirst("https://".count).firstIndex { "/?#".contains($0) } ?? text.endIndex
            locator = try ResourceLocator(url: String(text[..<end]))
        } catch {
            throw .invalidConfiguration(reason: "\(subject) is not a URL: \(error)")
        }
        guard !locator.body.contains("@") else {
            throw .invalidConfiguration(reason: "\(subject) has a user name")
        }
        self.text = text
        scheme = locator.scheme
        authority = locator.body
    }

    /// Returns the locator of key access, with the name of the key that opens a token.
    func locator(of key: NanoTDFPublicKey) throws(NanoTDFError) -> ResourceLocator {
        try ResourceLocator(scheme, body: authority, identifier: key.identifier)
    }

    /// Whether a locator has this host and port.
    func isPlace(of locator: ResourceLocator) -> Bool {
        locator.scheme == scheme && locator.body.utf8.elementsEqual(authority.utf8)
    }
}
