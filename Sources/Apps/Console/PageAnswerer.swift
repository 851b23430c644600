internal import HTTPAPI

/// Answers requests to paths that no route has: pages for browsers, and failures for programs.
struct PageAnswerer: Sendable {
    private let pages = PageTable()

    func answer(_ head: RequestHead) -> RouteAnswer {
        if ConsoleAccess.isForPrograms(head) { return .failure(.noRoute) }
        guard let page = pages[head.path] else {
            return .failure(RouteFailure(404, "no-such-page", "there is no such page"))
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            let allowed = "GET, HEAD"
            var answer = RouteAnswer.failure(
                RouteFailure(405, "wrong-method", "pages can only be read: use GET", context: ["allow": allowed])
            )
            answer.fields = ConsoleFields.make([("Allow", allowed)])
            return answer
        }
        let sent = pages.answer(page, accepting: head.fields["Accept-Encoding"])
        let isKnown = sent.isKnown(by: head.fields["If-None-Match"])
        var answer = RouteAnswer(.bytes(sent.bytes, contentType: page.contentType))
        if isKnown { answer = RouteAnswer(.empty, status: 304) }
        answer.fields = ConsoleFields.ofPage(tag: sent.tag, coding: isKnown ? nil : sent.coding)
        return answer
    }
}

/// The header fields that keep browsers strict.
enum ConsoleFields {
    /// The policy of pages: scripts and styles from this server only, no markup from text, no framing.
    private static let pagePolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        manifest-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """

    /// The fields of every answer of a route.
    static let ofRoutes = make([
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ])

    /// The fields of a page that differ from those of a route.
    static func ofPage(tag: String, coding: String?) -> HeaderFields {
        make(
            [
                ("Content-Security-Policy", pagePolicy), ("Cache-Control", "no-cache"), ("ETag", tag),
                ("Vary", "Accept-Encoding"), ("Permissions-Policy", "camera=(self)"),
            ] + (coding.map { [("Content-Encoding", $0)] } ?? [])
        )
    }

    /// Returns fields of this program, which are valid.
    static func make(_ pairs: [(name: String, value: String)]) -> HeaderFields {
        var fields = HeaderFields()
        do {
            for (name, value) in pairs { try fields.append(name, value) }
        } catch {
            preconditionFailure("no header field of ours: \(error)")
        }
        return fields
    }
}
