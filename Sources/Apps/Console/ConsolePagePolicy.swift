internal import HTTPAPI

extension PageAnswerer {
    /// The policy of the console's pages: scripts and styles from this server only, no markup from text, no framing.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        manifest-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// Answers with the console's pages.
    static var ofConsole: PageAnswerer {
        PageAnswerer(PageTable(), policy: policy, fields: [("Permissions-Policy", "camera=(self)")])
    }
}
