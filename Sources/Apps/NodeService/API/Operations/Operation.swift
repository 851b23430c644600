package import APIDescription
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

    /// The parts that every server's endpoints have.
    let endpoint: Endpoint<Path, Form, Answer>
    let access: OperationAccess
    /// Whether the operation is refused while the node does not run.
    let needsNetwork: Bool
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
        endpoint = Endpoint(
            method,
            NodeAPI.prefix + template,
            .bearer,
            Self.kind(kind),
            limit: limit,
            body: body,
            status: status,
            endsWithClient: endsWithClient,
            notes: EndpointNotes(extensions: access.extensions),
            input: { try Self.input(access) }
        )
        self.access = access
        self.needsNetwork = needsNetwork
        self.changes = changes
        self.requiredPeers = requiredPeers
    }

    private static func kind(_ kind: Kind) -> Endpoint<Path, Form, Answer>.Kind {
        switch kind {
        case .report: .report
        case .updates(let kinds): .lines { try AnswerLine.schemas(of: kinds, result: Answer.self) }
        case .lines(let schemas): .lines(schemas)
        case .file: .file
        }
    }

    /// The members of the form, with the confirmation that the access requires.
    private static func input(_ access: OperationAccess) throws -> ObjectSchema {
        switch access {
        case .overTheNetwork, .atThisDevice: try SchemaReader.object(of: Form.self)
        case .withVaultSecret: try SchemaReader.object(of: Joined<Form, ConfirmationForm>.self)
        }
    }
}

/// The operations of a node's API.
package enum Operations {}

/// The answer that is a file instead of a report.
struct FileAnswer: Codable, Sendable {}

// The requests that a client makes.
extension Operation where Form: Encodable, Answer: Decodable {
    package func callAsFunction(_ path: Path, _ form: Form) -> APIRequest<Answer> { APIRequest(self, path, form) }
}

extension Operation where Form == NoForm, Answer: Decodable {
    package func callAsFunction(_ path: Path) -> APIRequest<Answer> { APIRequest(self, path, NoForm()) }

    package func callAsFunction<First, Second>(_ first: First, _ second: Second) -> APIRequest<Answer>
    where Path == PathPair<First, Second> { APIRequest(self, PathPair(first, second), NoForm()) }
}

extension Operation where Path == NoPath, Form: Encodable, Answer: Decodable {
    package func callAsFunction(_ form: Form) -> APIRequest<Answer> { APIRequest(self, NoPath(), form) }
}

extension Operation where Path == NoPath, Form == NoForm, Answer: Decodable {
    package func callAsFunction() -> APIRequest<Answer> { APIRequest(self, NoPath(), NoForm()) }
}
