/// Answers requests to paths that no route has with the pages of a table.
package struct PageAnswerer: Sendable {
    private let pages: PageTable
    private let fields: @Sendable (PageTable.Answer, _ isKnown: Bool) -> HeaderFields

    /// Serves `pages` with a Content-Security-Policy and further header fields.
    package init(_ pages: PageTable, policy: String, fields: [(name: String, value: String)] = []) {
        self.pages = pages
        self.fields = { answer, isKnown in
            HeaderFields(
                valid: [
                    ("Content-Security-Policy", policy), ("Cache-Control", "no-cache"), ("ETag", answer.tag),
                    ("Vary", "Accept-Encoding"),
                ] + fields + (isKnown ? [] : answer.coding.map { [("Content-Encoding", $0)] } ?? [])
            )
        }
    }

    /// Answers with the file at the path, or at `path` in its place.
    package func answer(_ head: RequestHead, path: String? = nil) -> RouteAnswer {
        guard let page = pages[path ?? head.path] else {
            return .failure(RouteFailure(404, "no-such-page", "there is no such page"))
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            let allowed = "GET, HEAD"
            var answer = RouteAnswer.failure(
                RouteFailure(405, "wrong-method", "pages can only be read: use GET", context: ["allow": allowed])
            )
            answer.fields = HeaderFields(valid: [("Allow", allowed)])
            return answer
        }
        return answer(page, head.fields)
    }

    /// A route that answers GET with the file at `path`, for a path at which other methods have routes.
    package func route(_ template: String, path: String) -> Route {
        Route(.get, template) { request in
            guard let page = pages[path] else { return .failure(.noRoute) }
            return answer(page, request.fields)
        }
    }

    private func answer(_ page: PageTable.Page, _ requested: HeaderFields) -> RouteAnswer {
        let sent = pages.answer(page, accepting: requested["Accept-Encoding"])
        let isKnown = sent.isKnown(by: requested["If-None-Match"])
        var answer = RouteAnswer(.bytes(sent.bytes, contentType: page.contentType))
        if isKnown { answer = RouteAnswer(.empty, status: 304) }
        answer.fields = fields(sent, isKnown)
        return answer
    }
}

extension HeaderFields {
    /// Creates fields of this program, which are valid.
    package init(valid pairs: [(name: String, value: String)]) {
        self.init()
        do {
            for (name, value) in pairs { try append(name, value) }
        } catch {
            preconditionFailure("no header field of ours: \(error)")
        }
    }

    /// The fields of every answer of a route to a browser: no content of others, no frames, no copies.
    package static let strict = strict([])

    /// Returns ``strict`` with further fields of this program.
    package static func strict(_ pairs: [(name: String, value: String)]) -> HeaderFields {
        HeaderFields(
            valid: [
                ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
                ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
                ("Cache-Control", "no-store"),
            ] + pairs
        )
    }
}
