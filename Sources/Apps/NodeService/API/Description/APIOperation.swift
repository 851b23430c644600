internal import Console

/// A route of the API with its shape.
struct APIOperation: Sendable {
    let route: ConsoleRoute
    /// Throws ``SchemaReader/Failure``.
    let shape: @Sendable () throws -> APIShape
}

/// What can be said of a route without words.
struct APIShape: Sendable {
    /// What is answered when nothing goes wrong.
    enum Answer: Sendable {
        case report(Schema, status: Int)
        /// JSON texts of these kinds, one on each line.
        case lines([Schema])
        /// Bytes to keep.
        case file
        case text
    }

    let method: ConsoleRoute.Method
    /// The path, with `{name}` for a segment.
    let template: String
    let body: ConsoleRoute.Body
    /// What the body says, or the query of a request without JSON.
    let input: ObjectSchema
    let answer: Answer
}

extension APIShape {
    /// - Throws: ``SchemaReader/Failure``.
    init<Form>(_ route: ConsoleRoute, _ input: RouteInput<Form>, _ answer: Answer) throws {
        self.init(
            method: route.method,
            template: route.template,
            body: route.body,
            input: try SchemaReader.object(of: Form.self),
            answer: answer
        )
    }
}

/// Where a form stands in a request: in its JSON, or in the query.
struct RouteInput<Form: Decodable & Sendable>: Sendable {
    let body: ConsoleRoute.Body

    /// In JSON.
    static func json(_ form: Form.Type, limit: Int = ConsoleRoute.jsonByteLimit) -> Self {
        RouteInput(body: .json(limit: limit))
    }

    /// In the query, beside a body of another kind if there is one.
    static func query(_ form: Form.Type, body: ConsoleRoute.Body = .none) -> Self { RouteInput(body: body) }

    /// - Throws: ``ConsoleFailure`` that names the field.
    func form(of request: ConsoleRequest) throws -> Form {
        switch body {
        case .json: try request.form()
        case .none, .bytes, .file: try request.queryForm()
        }
    }
}

extension RouteInput where Form == NoForm {
    /// Nothing is said.
    static var empty: Self { RouteInput(body: .json()) }
}

/// What a request says that says nothing beside its path.
struct NoForm: Codable, Sendable {}
