package import HTTPAPI

/// An endpoint of an HTTP API as a constant: the parts of its request, and the type of its answer.
///
/// The server and the description of the API are made from the same constant, so that they agree.
package struct Endpoint<
    Path: PathParameters,
    Form: Decodable & Sendable,
    Answer: Encodable & Sendable
>: Sendable {
    /// The form of the answer in HTTP.
    package enum Kind: Sendable {
        /// An `Answer` in JSON.
        case report
        /// Lines with these schemas.
        case lines(@Sendable () throws -> [JSONSchema])
        /// Bytes to keep.
        case file
        case text
        /// An answer without a body, with status 204.
        case empty
    }

    package let method: Route.Method
    /// The path, with `{name}` for each of the parameters.
    package let template: String
    package let credentials: Credentials
    package let kind: Kind
    /// The body of the request: JSON is the form; with another body, or none, the form is the query.
    package let body: Route.Body
    /// The status of an answer that is no failure.
    package let status: Int
    /// Whether the handler is cancelled when its client disconnects.
    package let endsWithClient: Bool
    /// The words and further members of the description.
    package let notes: EndpointNotes
    /// The members of the form in the description, which may have some that only ``EndpointRules`` read.
    private let input: @Sendable () throws -> ObjectSchema

    /// Creates the constant; the body, unless it is given, is the form in JSON, and none for GET and DELETE.
    ///
    /// `limit` is the most bytes of the form. The credentials have no default, so that each endpoint names some, or `.none`.
    package init(
        _ method: Route.Method,
        _ template: String,
        _ credentials: Credentials,
        _ kind: Kind = .report,
        limit: Int = Route.jsonByteLimit,
        body: Route.Body? = nil,
        status: Int? = nil,
        endsWithClient: Bool = false,
        notes: EndpointNotes = EndpointNotes(),
        input: @escaping @Sendable () throws -> ObjectSchema = { try SchemaReader.object(of: Form.self) }
    ) {
        self.method = method
        self.template = template
        self.credentials = credentials
        self.kind = kind
        self.body = body ?? (method == .get || method == .delete ? .none : .json(limit: limit))
        if case .empty = kind { self.status = 204 } else { self.status = status ?? 200 }
        self.endsWithClient = endsWithClient
        self.notes = notes
        self.input = input
    }

    /// The types of the endpoint, for the description of the API.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    package func shape() throws -> APIShape {
        let content: APIShape.Content =
            switch kind {
            case .report: .report(try SchemaReader.schema(of: Answer.self))
            case .lines(let schemas): .lines(try schemas())
            case .file: .file
            case .text: .text
            case .empty: .empty
            }
        return APIShape(
            method,
            template,
            credentials,
            body: body,
            input: try input(),
            content: content,
            status: status,
            notes: notes
        )
    }

    /// - Throws: ``RouteFailure`` that names the field.
    fileprivate func form(of request: RouteRequest) throws -> Form {
        switch body {
        case .json: try request.form()
        case .none, .bytes, .file: try request.queryForm()
        }
    }
}

/// A request of one endpoint.
package struct EndpointRequest<Path: PathParameters, Form: Decodable & Sendable>: Sendable {
    package let path: Path
    package let form: Form
    /// The request as the server received it.
    package let route: RouteRequest
    private let credentials: Credentials

    package var origin: RouteRequest.Origin { route.origin }
    /// The content that is neither JSON nor a file.
    package var content: [UInt8] { route.body }
    package var file: ReceivedFile? { route.file }

    /// The token of the endpoint's credentials, which the handler verifies.
    ///
    /// - Throws: ``RouteFailure`` with status 401 if the request has none.
    package var token: String { get throws(RouteFailure) { try credentials.token(in: route) } }

    /// - Throws: ``RouteFailure`` that names the field.
    init<Answer>(_ request: RouteRequest, of endpoint: Endpoint<Path, Form, Answer>) throws {
        form = try endpoint.form(of: request)
        path = try Path(parameters: request.parameters)
        route = request
        credentials = endpoint.credentials
    }
}

/// The form of a request that has a path and nothing else.
package struct NoForm: Codable, Sendable {
    package init() {}
}

/// The type of an answer that is no report.
package struct NoAnswer: Codable, Sendable {
    package init() {}
}
