internal import HTTPAPI
internal import IdentityPages

/// Answers with the pages of the identity server: one page with views, whose addresses people may open.
struct IdentityPageAnswerer: Sendable {
    /// Scripts and styles from this server only, no markup from text, no framing.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
        trusted-types 'none'
        """
    private static let permissions =
        "publickey-credentials-create=(self), publickey-credentials-get=(self), camera=(), geolocation=()"

    private let pages: PageAnswerer

    init() {
        // The table is constant.
        let table = unsafe PageTable(identity_pages)
        pages = PageAnswerer(table, policy: Self.policy, fields: [("Permissions-Policy", Self.permissions)])
    }

    func answer(_ head: RequestHead) -> RouteAnswer {
        pages.answer(head, path: Self.isView(head.path) ? "/" : nil)
    }

    /// The view at a path that has a route for POST, too.
    var routes: [Route] { [pages.route("/register", path: "/")] }

    /// Whether the page at the path is a view of the one page.
    private static func isView(_ path: String) -> Bool {
        ["/sign-in", "/my-account"].contains(path) || path.hasPrefix("/ceremony/")
    }
}
