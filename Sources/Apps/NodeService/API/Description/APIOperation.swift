internal import HTTPAPI

/// A route of the API with its shape.
struct APIOperation: Sendable {
    let route: Route
    /// The parameters that the type of the path reads.
    let parameters: [String]
    let access: OperationAccess
    /// Throws ``SchemaReader/Failure``.
    let shape: @Sendable () throws -> APIShape
}

/// The types of a route.
struct APIShape: Sendable {
    /// The content of an answer that is no failure.
    enum Answer: Sendable {
        case report(JSONSchema, status: Int)
        /// JSON texts of these kinds, one on each line.
        case lines([JSONSchema])
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
