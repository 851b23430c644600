internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Answers as HTTP, with the header fields that the server sends with each.
enum HTTPAnswer {
    static let host = name("Host")

    /// Returns the HTTP response for an answer; one of lines has an empty body.
    ///
    /// - Throws: ``RouteFailure`` when a file cannot be read.
    static func answer(_ answer: RouteAnswer, _ common: HeaderFields) throws(RouteFailure) -> Response {
        switch answer.content {
        case .empty: return response(answer, nil, ResponseBody(), common)
        case .json(let bytes): return response(answer, "application/json", Self.body(bytes), common)
        case .last(let bytes, let action):
            let body = ResponseBody(contentLength: bytes.count) { writer in
                defer { action() }
                try await writer.write(ByteBuffer(bytes: bytes))
                try await writer.finish(nil)
            }
            return response(answer, "application/json", body, common)
        case .bytes(let bytes, let contentType): return response(answer, contentType, Self.body(bytes), common)
        case .lines: return lines(ResponseBody { try await $0.finish(nil) }, of: answer, common)
        case .download(let bytes, let name):
            return attachment(name, answer, Self.body(bytes), common)
        case .file(let path, let name):
            return attachment(name, answer, try OutgoingBody.file(path), common)
        }
    }

    /// Lines as they are written.
    static func lines(_ body: ResponseBody, of answer: RouteAnswer, _ common: HeaderFields) -> Response {
        response(answer, "application/x-ndjson", body, common)
    }

    static func failure(_ failure: RouteFailure, _ common: HeaderFields) -> Response {
        var response = response(.failure(failure), "application/json", body(failure.json), common)
        if failure.status == 405 { response.headers[.allow] = failure.context["allow"] }
        return response
    }

    /// Returns the answer to HEAD: `response` with its header fields and without its body.
    ///
    /// A body of unknown length would be sent in chunks, and the library would end it with an empty one, which the client
    /// takes for the next answer. So the connection closes after such a head.
    static func withoutBody(_ response: Response, _ channel: any Channel, within patience: TimeAmount) -> Response {
        guard response.body.contentLength == nil else { return response.createHeadResponse() }
        var head = response
        head.headers[.connection] = "close"
        head.body = ResponseBody { _ in OpenConnections.end(channel, within: patience) }
        return head
    }

    /// Returns `response` so that the connection closes after it, because the rest of the request is not read.
    static func closing(_ response: Response, _ channel: any Channel, within patience: TimeAmount) -> Response {
        var closing = response
        closing.headers[.connection] = "close"
        let body = response.body
        closing.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            OpenConnections.end(channel, within: patience)
        }
        return closing
    }

    /// Returns `response` with a body that holds the ticket of its request until it was written.
    static func holding(_ ticket: OpenRequests.Ticket, until response: Response) -> Response {
        var held = response
        let body = response.body
        held.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { withExtendedLifetime(ticket) {} }
            try await body.write(writer)
        }
        return held
    }

    private static func attachment(
        _ name: String,
        _ answer: RouteAnswer,
        _ body: ResponseBody,
        _ common: HeaderFields
    ) -> Response {
        var response = response(answer, "application/octet-stream", body, common)
        // A name for the file to keep, in the form that takes any letters (RFC 8187).
        response.headers[.contentDisposition] = "attachment; filename*=UTF-8''\(PercentText.encode(name))"
        return response
    }

    private static func response(
        _ answer: RouteAnswer,
        _ contentType: String?,
        _ body: ResponseBody,
        _ common: HeaderFields
    ) -> Response {
        var fields = common
        fields.replace(with: answer.fields)
        var http = fields.http
        if let contentType { http[.contentType] = contentType }
        return Response(status: HTTPResponse.Status(code: answer.status), headers: http, body: body)
    }

    private static func body(_ bytes: [UInt8]) -> ResponseBody { ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("no name of a field: \(text)") }
        return name
    }
}
