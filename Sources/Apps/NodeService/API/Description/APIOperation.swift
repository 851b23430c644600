internal import Console

/// A route of the API with its shape.
struct APIOperation: Sendable {
    let route: Route
    let access: OperationAccess
    /// Throws ``SchemaReader/Failure``.
    let shape: @Sendable () throws -> APIShape
}

/// The types of a route.
struct APIShape: Sendable {
    /// The content of an answer that is no failure.
    enum Answer: Sendable {
        case report(Schema, status: Int)
        /// JSON texts of these kinds, one on each line.
        case lines([Schema])
        /// Bytes to keep.
        case file
        case text
    }

    let method: Route.Method
    /// The path, with `{name}` for a segment.
    let template: String
    let access: OperationAccess
    let body: Route.Body
    /// The members of the JSON body; without one, of the query.
    let input: ObjectSchema
    let answer: Answer
}

extension APIShape {
    /// - Throws: ``SchemaReader/Failure``.
    init<Form>(
        _ route: Route,
        _ access: OperationAccess,
        _ input: RouteInput<Form>,
        _ answer: Answer
    ) throws {
        let form: ObjectSchema =
            switch access {
            case .overTheNetwork, .atThisDevice: try SchemaReader.object(of: Form.self)
            case .withVaultSecret: try SchemaReader.object(of: Joined<Form, ConfirmationForm>.self)
            }
        self.init(
            method: route.method,
            template: route.template,
            access: access,
            body: route.body,
            input: form,
            answer: answer
        )
    }
}

/// The place of a form in a request: its JSON, or the query.
struct RouteInput<Form: Decodable & Sendable>: Sendable {
    let body: Route.Body

    /// In JSON.
    static func json(_ form: Form.Type, limit: Int = Route.jsonByteLimit) -> Self {
        RouteInput(body: .json(limit: limit))
    }

    /// In the query, and a body of another kind if `body` is given.
    static func query(_ form: Form.Type, body: Route.Body = .none) -> Self { RouteInput(body: body) }

    /// - Throws: ``RouteFailure`` that names the field.
    func form(of request: RouteRequest) throws -> Form {
        switch body {
        case .json: try request.form()
        case .none, .bytes, .file: try request.queryForm()
        }
    }
}

extension RouteInput where Form == NoForm {
    /// An empty JSON body.
    static var empty: Self { RouteInput(body: .json()) }
}

/// The form of a request that has a path and nothing else.
struct NoForm: Codable, Sendable {}
