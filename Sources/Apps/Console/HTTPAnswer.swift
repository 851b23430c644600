internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Answers as HTTP, with the fields that keep browsers strict.
enum HTTPAnswer {
    static let fetchSite = name("Sec-Fetch-Site")
    static let host = name("Host")
    private static let openerPolicy = name("Cross-Origin-Opener-Policy")
    private static let resourcePolicy = name("Cross-Origin-Resource-Policy")
    private static let permissions = name("Permissions-Policy")
    private static let referrers = name("Referrer-Policy")

    /// The policy of pages: scripts and styles from this server only, no markup from text, no framing.
    private static let pagePolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        manifest-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """
    private static let closedPolicy = "default-src 'none'; frame-ancestors 'none'"

    /// A page; 304 without a body for a browser that has these bytes.
    static func page(_ page: PageTable.Page, _ answer: PageTable.Answer, isKnown: Bool) -> Response {
        var fields = common(policy: pagePolicy)
        fields[.cacheControl] = "no-cache"
        fields[.eTag] = answer.tag
        fields[.vary] = "Accept-Encoding"
        fields[permissions] = "camera=(self)"
        if isKnown { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = page.contentType
        fields[.contentEncoding] = answer.coding
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.bytes)))
    }

    /// Returns the HTTP response for an answer of a route, other than lines.
    ///
    /// - Throws: ``RouteFailure`` when a file cannot be read.
    static func answer(_ answer: RouteAnswer) throws(RouteFailure) -> Response {
        var fields = common(policy: closedPolicy)
        fields[.cacheControl] = "no-store"
        switch answer {
        case .json(let bytes, let status):
            fields[.contentType] = "application/json"
            return Response(
                status: HTTPResponse.Status(code: status),
                headers: fields,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        case .last(let bytes, let action):
            fields[.contentType] = "application/json"
            let body = ResponseBody(contentLength: bytes.count) { writer in
                defer { action() }
                try await writer.write(ByteBuffer(bytes: bytes))
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: fields, body: body)
        case .text(let text, let contentType):
            fields[.contentType] = contentType
            return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        case .download(let bytes, let name):
            fields[.contentType] = "application/octet-stream"
            fields[.contentDisposition] = attachment(name)
            return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .file(let path, let name):
            fields[.contentType] = "application/octet-stream"
            fields[.contentDisposition] = attachment(name)
            return Response(status: .ok, headers: fields, body: try OutgoingBody.file(path))
        case .lines: preconditionFailure("lines have a body of their own")
        }
    }

    /// Lines as they are written.
    static func lines(_ body: ResponseBody) -> Response {
        var fields = common(policy: closedPolicy)
        fields[.cacheControl] = "no-store"
        fields[.contentType] = "application/x-ndjson"
        return Response(status: .ok, headers: fields, body: body)
    }

    static func failure(_ failure: RouteFailure) -> Response {
        var fields = common(policy: closedPolicy)
        fields[.cacheControl] = "no-store"
        fields[.contentType] = "application/json"
        if failure.status == 401 { fields[.wwwAuthenticate] = "Bearer realm=\"runar\"" }
        if failure.status == 405 { fields[.allow] = failure.context["allow"] }
        return Response(
            status: HTTPResponse.Status(code: failure.status),
            headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: failure.json))
        )
    }

    /// Returns `response` so that the connection closes after it, because the rest of the request is not read.
    static func closing(_ response: Response, _ channel: any Channel) -> Response {
        var closing = response
        closing.headers[.connection] = "close"
        let body = response.body
        closing.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            channel.close(promise: nil)
        }
        return closing
    }

    private static func common(policy: String) -> HTTPFields {
        [
            .contentSecurityPolicy: policy, .xContentTypeOptions: "nosniff", referrers: "no-referrer",
            openerPolicy: "same-origin", resourcePolicy: "same-origin",
        ]
    }

    /// A name for the file to keep, in the form that takes any letters (RFC 8187).
    private static func attachment(_ name: String) -> String {
        "attachment; filename*=UTF-8''\(PercentText.encode(name))"
    }

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("no name of a field: \(text)") }
        return name
    }
}
