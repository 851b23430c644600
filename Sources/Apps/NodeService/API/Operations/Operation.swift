internal import CommandModel
internal import HTTPAPI
internal import NodeModel

/// An operation of the API: the parts of its request, and the type of its answer.
///
/// The server, the client and the description of the API are made from the same constant, one of ``Operations``.
package struct Operation<
    Path: PathParameters,
    Form: Decodable & Sendable,
    Answer: Encodable & Sendable
>: Sendable {
    /// The form of the answer in HTTP.
    enum Kind: Sendable {
        /// An `Answer` in JSON.
        case report
        /// Lines of these kinds, then one with an `Answer`.
        case updates([UpdateKind])
        /// Lines with these schemas.
        case lines(@Sendable () throws -> [JSONSchema])
        /// Bytes to keep.
        case file
    }

    let method: Route.Method
    /// The path, with `{name}` for each of the parameters.
    let template: String
    let access: OperationAccess
    /// The body of the request: JSON is the form; with another body, or none, the form is the query.
    let body: Route.Body
    let kind: Kind
    /// The status of an answer that is no failure.
    let status: Int
    /// Whether the operation is refused while the node does not run.
    let needsNetwork: Bool
    /// Whether the operation is cancelled when its client disconnects.
    let endsWithClient: Bool
    /// The subjects that pages reload after the operation.
    let changes: [ActivityChanged.Subject]
    /// The peers that must be connected before a node that was just started can answer.
    let requiredPeers: @Sendable (Path, Form) -> RequiredPeers

    /// Creates the constant; the body, unless it is given, is the form in JSON, and none for GET and DELETE.
    ///
    /// `template` begins below ``NodeAPI/prefix``, and `limit` is the most bytes of the form. The access has no default, so that each operation names one.
    init(
        _ method: Route.Method,
        _ template: String,
        _ access: OperationAccess,
        _ kind: Kind = .report,
        limit: Int = Route.jsonByteLimit,
        body: Route.Body? = nil,
        status: Int = 200,
        needsNetwork: Bool = false,
        endsWithClient: Bool = false,
        changes: [ActivityChanged.Subject] = [],
        requiredPeers: @escaping @Sendable (Path, Form) -> RequiredPeers = { _, _ in .nobody }
    ) {
        self.method = method
        self.template = NodeAPI.prefix + template
        self.access = access
        self.body = body ?? (method == .get || method == .delete ? .none : .json(limit: limit))
        self.kind = kind
        self.status = status
        self.needsNetwork = needsNetwork
        self.endsWithClient = endsWithClient
        self.changes = changes
        self.requiredPeers = requiredPeers
    }

    /// The types of the operation, for the description of the API.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    func shape() throws -> APIShape {
        let form =
            switch access {
            case .overTheNetwork, .atThisDevice: try SchemaReader.object(of: Form.self)
            case .withVaultSecret: try SchemaReader.object(of: Joined<Form, ConfirmationForm>.self)
            }
        let answer: APIShape.Answer =
            switch kind {
            case .report: .report(try SchemaReader.schema(of: Answer.self), status: status)
            case .updates(let kinds): .lines(try AnswerLine.schemas(of: kinds, result: Answer.self))
            case .lines(let schemas): .lines(try schemas())
            case .file: .file
            }
        return APIShape(
            method: method,
            template: template,
            access: access,
            body: body,
            input: form,
            answer: answer
        )
    }

    /// - Throws: ``RouteFailure`` that names the field.
    func form(of request: RouteRequest) throws -> Form {
        switch body {
        case .json: try request.form()
        case .none, .bytes, .file: try request.queryForm()
        }
    }
}

/// The operations of a node's API.
package enum Operations {}

/// The form of a request that has a path and nothing else.
package struct NoForm: Codable, Sendable {
    package init() {}
}

/// The answer that is a file instead of a report.
struct FileAnswer: Codable, Sendable {}

// The requests that a client makes.
extension Operation where Form: Encodable, Answer: Decodable {
    package func callAsFunction(_ path: Path, _ form: Form) -> APIRequest<Answer> { APIRequest(self, path, form) }
}

extension Operation where Form == NoForm, Answer: Decodable {
    package func callAsFunction(_ path: Path) -> APIRequest<Answer> { APIRequest(self, path, NoForm()) }
}

extension Operation where Path == NoPath, Form: Encodable, Answer: Decodable {
    package func callAsFunction(_ form: Form) -> APIRequest<Answer> { APIRequest(self, NoPath(), form) }
}

extension Operation where Path == NoPath, Form == NoForm, Answer: Decodable {
    package func callAsFunction() -> APIRequest<Answer> { APIRequest(self, NoPath(), NoForm()) }
}
