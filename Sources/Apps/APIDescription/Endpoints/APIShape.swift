package import HTTPAPI

/// The types of a route.
package struct APIShape: Sendable {
    /// The content of an answer that is no failure.
    package enum Content: Hashable, Sendable {
        case report(JSONSchema)
        /// JSON texts of these kinds, one on each line.
        case lines([JSONSchema])
        /// Bytes to keep.
        case file
        case text
        case empty
    }

    package let method: Route.Method
    /// The path, with `{name}` for a segment.
    package let template: String
    package let credentials: Credentials
    package let body: Route.Body
    /// The members of the JSON body; without one, of the query.
    package let input: ObjectSchema
    package let content: Content
    /// The status of an answer that is no failure.
    package let status: Int
    package let notes: EndpointNotes

    package init(
        _ method: Route.Method,
        _ template: String,
        _ credentials: Credentials,
        body: Route.Body = .none,
        input: ObjectSchema = ObjectSchema(fields: []),
        content: Content,
        status: Int = 200,
        notes: EndpointNotes = EndpointNotes()
    ) {
        self.method = method
        self.template = template
        self.credentials = credentials
        self.body = body
        self.input = input
        self.content = content
        self.status = status
        self.notes = notes
    }

    /// The names of the segments that a path leaves open.
    package static func names(in template: String) -> [String] {
        template.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}
