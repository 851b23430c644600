internal import CommandModel
package import HTTPAPI

/// The description of an API in OpenAPI 3.1.
///
/// Paths, parameters, bodies and answers are made of the endpoints and their types. The words are those of
/// ``EndpointNotes``, or those that people wrote into an earlier version of the document.
package struct OpenAPIDocument: Sendable {
    package var title: String
    /// The version of the API.
    package var version: String
    /// The addresses of servers.
    package var servers: [String]
    /// The credentials of the operations that state no others.
    package var credentials: Credentials
    /// The schema of every failure.
    package var failure: JSONSchema

    package init(
        title: String,
        version: String,
        servers: [String],
        credentials: Credentials = .none,
        failure: JSONSchema = RouteFailure.schema
    ) {
        self.title = title
        self.version = version
        self.servers = servers
        self.credentials = credentials
        self.failure = failure
    }

    /// Returns the document, with the words of an earlier one.
    ///
    /// - Throws: ``SchemaReader/Failure`` if two types have one name.
    package func json(
        of shapes: [APIShape],
        words: JSONDocument = [:]
    ) throws(SchemaReader.Failure) -> JSONDocument {
        var schemas = NamedSchemas()
        var paths: [String: JSONDocument] = [:]
        var segments: [String: JSONDocument] = [:]
        for shape in shapes {
            for name in APIShape.names(in: shape.template) {
                segments[name] = Self.parameter(name, in: "path", ["type": "string"], isRequired: true)
            }
            var path = paths[shape.template]?.members ?? [:]
            path[shape.method.rawValue.lowercased()] = operation(shape, &schemas)
            paths[shape.template] = .object(path)
        }
        let failure = Self.failure(described: Self.failed, schemas.json(failure))
        let components: JSONDocument = [
            "securitySchemes": .object(schemes(of: shapes)),
            "parameters": .object(segments),
            "responses": ["Failure": failure],
            "schemas": .object(try schemas.components),
        ]
        var document: [String: JSONDocument] = [
            "openapi": "3.1.0",
            "info": ["title": .string(title), "version": .string(version)],
            "servers": .array(servers.map { ["url": .string($0)] }),
            "paths": .object(paths),
            "components": components,
        ]
        if credentials != .none { document["security"] = Self.requirement(of: credentials) }
        return Self.keepWords(of: words, in: .object(document))
    }

    /// Returns a route that serves the document of these endpoints.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    package func route(at template: String = "/openapi.json", of endpoints: [ServedEndpoint]) throws -> Route {
        let text = Self.text(of: try json(of: endpoints.map { try $0.shape() }))
        return Route(.get, template) { _ in .json(Array(text.utf8)) }
    }

    // MARK: Operations

    private func operation(_ shape: APIShape, _ schemas: inout NamedSchemas) -> JSONDocument {
        let notes = shape.notes
        var operation = notes.extensions
        var parameters: [JSONDocument] = APIShape.names(in: shape.template).map { name in
            ["$ref": .string("#/components/parameters/\(name)")]
        }
        switch shape.body {
        case .json:
            let schema = shape.input.json { schemas.reference(to: $0) }
            operation["requestBody"] = [
                "required": .boolean(shape.input.fields.contains(where: \.isRequired)),
                "content": ["application/json": ["schema": schema]],
            ]
        case .none, .bytes, .file:
            parameters += shape.input.fields.map { field in
                Self.parameter(field.name, in: "query", schemas.json(field.schema), isRequired: field.isRequired)
            }
            if shape.body != .none {
                operation["requestBody"] = ["required": true, "content": ["application/octet-stream": [:]]]
            }
        }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        operation["responses"] = .object(responses(of: shape, &schemas))
        if shape.credentials != credentials { operation["security"] = Self.requirement(of: shape.credentials) }
        operation["summary"] = notes.summary.map { .string($0) }
        operation["description"] = notes.details.map { .string($0) }
        if !notes.tags.isEmpty { operation["tags"] = .array(notes.tags.map { .string($0) }) }
        return .object(operation)
    }

    private func responses(of shape: APIShape, _ schemas: inout NamedSchemas) -> [String: JSONDocument] {
        let failure = schemas.json(shape.notes.failure ?? failure)
        var responses: [String: JSONDocument] = ["default": ["$ref": "#/components/responses/Failure"]]
        if shape.notes.failure != nil { responses["default"] = Self.failure(described: Self.failed, failure) }
        for (status, words) in shape.notes.failures {
            responses[String(status)] = Self.failure(described: words, failure)
        }
        var answer: [String: JSONDocument] = ["description": "Done."]
        answer["content"] = Self.content(shape.content, &schemas)
        if !shape.notes.answerFields.isEmpty {
            answer["headers"] = .object(
                shape.notes.answerFields.mapValues { ["description": .string($0), "schema": ["type": "string"]] }
            )
        }
        responses[String(shape.status)] = .object(answer)
        return responses
    }

    private static func content(_ content: APIShape.Content, _ schemas: inout NamedSchemas) -> JSONDocument? {
        switch content {
        case .report(let schema): ["application/json": ["schema": schemas.json(schema)]]
        case .lines(let lines): ["application/x-ndjson": ["schema": schemas.json(.anyOf(lines))]]
        case .file: ["application/octet-stream": [:]]
        case .text: ["text/plain": ["schema": ["type": "string"]]]
        case .empty: nil
        }
    }

    private static let failed = "The request failed."

    private static func failure(described words: String, _ schema: JSONDocument) -> JSONDocument {
        ["description": .string(words), "content": ["application/json": ["schema": schema]]]
    }

    private static func parameter(
        _ name: String,
        in place: String,
        _ schema: JSONDocument,
        isRequired: Bool
    ) -> JSONDocument {
        var parameter: [String: JSONDocument] = ["name": .string(name), "in": .string(place), "schema": schema]
        if isRequired { parameter["required"] = true }
        return .object(parameter)
    }

    // MARK: Credentials

    /// The alternatives, of which a request satisfies one.
    private static func requirement(of credentials: Credentials) -> JSONDocument {
        .array(credentials.schemes.map { .object([$0.name: []]) })
    }

    private func schemes(of shapes: [APIShape]) -> [String: JSONDocument] {
        let schemes = (shapes.map(\.credentials) + [credentials]).flatMap(\.schemes)
        return Dictionary(schemes.map { ($0.name, $0.definition) }) { first, _ in first }
    }
}

/// The named schemas: each is included once among the components, and referred to.
private struct NamedSchemas {
    private var found: [String: ObjectSchema] = [:]
    private var documents: [String: JSONDocument] = [:]
    /// A name that several types have.
    private var ambiguous: String?

    /// - Throws: ``SchemaReader/Failure`` if two types have one name.
    var components: [String: JSONDocument] {
        get throws(SchemaReader.Failure) {
            guard let ambiguous else { return documents }
            throw SchemaReader.Failure(description: "several types are named \(ambiguous): rename one of them")
        }
    }

    mutating func json(_ schema: JSONSchema) -> JSONDocument { schema.json { reference(to: $0) } }

    mutating func reference(to object: ObjectSchema) -> JSONDocument? {
        guard let name = object.name else { return nil }
        if let other = found[name] {
            if other != object { ambiguous = name }
        } else {
            found[name] = object
            documents[name] = object.json { reference(to: $0) }
        }
        return ["$ref": .string("#/components/schemas/\(name)")]
    }
}
