internal import Console
internal import HTTPAPI
internal import RunarNode

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService

/// The description of the API, as OpenAPI 3.1: `openapi.json` among the console's pages.
///
/// Paths, parameters, bodies and answers are made of the operations and their types. The words are written by people into
/// the file itself: ``document(of:words:)`` takes them over from the file as it was.
enum APIDescription {
    /// Everything that is answered: at the console, and over the socket in the home.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    static func shapes(of api: NodeAPI) throws -> [APIShape] {
        try ownShapes() + (api.operations + api.commandOperations).map { try $0.shape() }
    }

    /// The routes of the console itself.
    private static func ownShapes() throws -> [APIShape] {
        let session = APIShape.Answer.report(try SchemaReader.schema(of: ConsoleSessions.Session.self), status: 200)
        let done = APIShape.Answer.report(.object(ObjectSchema(fields: [])), status: 200)
        let secret = try SchemaReader.object(of: ConsoleSessions.SecretForm.self)
        func shape(
            _ method: Route.Method,
            _ path: String,
            _ answer: APIShape.Answer,
            _ body: Route.Body = .none,
            _ input: ObjectSchema = ObjectSchema(fields: [])
        ) -> APIShape {
            APIShape(
                method: method,
                template: path,
                access: .overTheNetwork,
                body: body,
                input: input,
                answer: answer
            )
        }
        return [
            shape(.post, NodeAPI.prefix + "/session", session, .json(), secret),
            shape(.post, NodeAPI.prefix + "/session/renew", session),
            shape(.delete, NodeAPI.prefix + "/session/all", done),
            shape(.get, "/metrics", .text),
        ]
    }

    /// The document, with the words of an earlier one.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    static func document(of shapes: [APIShape], words: RunarValue) throws -> RunarValue {
        var schemas = NamedSchemas()
        var paths: [String: RunarValue] = [:]
        var segments: [String: RunarValue] = [:]
        for shape in shapes {
            for name in names(in: shape.template) {
                segments[name] = parameter(name, in: "path", ["type": "string"], isRequired: true)
            }
            var path = paths[shape.template]?.objectValue ?? [:]
            path[shape.method.rawValue.lowercased()] = operation(shape, &schemas)
            paths[shape.template] = .object(path)
        }
        let failure = try SchemaReader.schema(of: FailureAnswer.self)
        let responses: RunarValue = ["Failure": ["content": ["application/json": ["schema": schemas.json(failure)]]]]
        let document: RunarValue = [
            "openapi": "3.1.0",
            "info": ["title": "Runar", "version": "1"],
            "servers": [["url": "http://localhost:4280"]],
            "security": [["bearer": []]],
            "paths": .object(paths),
            "components": [
                "securitySchemes": ["bearer": ["type": "http", "scheme": "bearer"]],
                "parameters": .object(segments),
                "responses": responses,
                "schemas": .object(schemas.components),
            ],
        ]
        return keepWords(of: words, in: document)
    }

    private static func operation(_ shape: APIShape, _ schemas: inout NamedSchemas) -> RunarValue {
        var operation: [String: RunarValue] = [:]
        var parameters: [RunarValue] = names(in: shape.template).map { name in
            ["$ref": .string("#/components/parameters/\(name)")]
        }
        switch shape.body {
        case .json:
            let schema = shape.input.json { schemas.reference(to: $0) }
            operation["requestBody"] = [
                "required": .bool(shape.input.fields.contains(where: \.isRequired)),
                "content": ["application/json": ["schema": schema]],
            ]
        case .none, .bytes, .file:
            parameters += shape.input.fields.map { field in
                parameter(field.name, in: "query", schemas.json(field.schema), isRequired: field.isRequired)
            }
            if shape.body != .none {
                operation["requestBody"] = ["required": true, "content": ["application/octet-stream": [:]]]
            }
        }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        let (status, content) = answer(shape.answer, &schemas)
        operation["responses"] = .object([
            String(status): ["description": "Done.", "content": content],
            "default": ["$ref": "#/components/responses/Failure"],
        ])
        if shape.access != .overTheNetwork { operation["x-runar-access"] = .string(shape.access.rawValue) }
        // The one request without a token.
        if shape.template == NodeAPI.prefix + "/session" { operation["security"] = [] }
        return .object(operation)
    }

    /// The names of the segments that a path leaves open.
    static func names(in template: String) -> [String] {
        template.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    private static func answer(_ answer: APIShape.Answer, _ schemas: inout NamedSchemas) -> (Int, RunarValue) {
        switch answer {
        case .report(let schema, let status): (status, ["application/json": ["schema": schemas.json(schema)]])
        case .lines(let lines): (200, ["application/x-ndjson": ["schema": schemas.json(.anyOf(lines))]])
        case .file: (200, ["application/octet-stream": [:]])
        case .text: (200, ["text/plain": ["schema": ["type": "string"]]])
        }
    }

    private static func parameter(
        _ name: String,
        in place: String,
        _ schema: RunarValue,
        isRequired: Bool
    ) -> RunarValue {
        var parameter: [String: RunarValue] = ["name": .string(name), "in": .string(place), "schema": schema]
        if isRequired { parameter["required"] = true }
        return .object(parameter)
    }

    // MARK: Access

    /// The table of access for the console's pages: `lib/access.js`.
    static func accessPage(of operations: [APIOperation]) -> String {
        let lines = operations.filter { $0.access != .overTheNetwork }
            .map { "  \"\($0.route.method.rawValue) \(path(of: $0))\": \"\($0.access.rawValue)\",\n" }
        return """
            // The operations that the API does not perform for every signed-in screen; `make api-description` writes this file.

            /// "device": on the device itself alone. "vault": there, for a person who has the secret of its vault.
            export const access = {
            \(lines.sorted().joined())};

            """
    }

    /// The path below the prefix of the API.
    static func path(of operation: APIOperation) -> String {
        String(operation.route.template.dropFirst(NodeAPI.prefix.count))
    }

    // MARK: Text

    /// JSON with a line for each operation and each schema, so that versions can be compared.
    static func text(of document: RunarValue) -> String { text(of: document, depth: 3) + "\n" }

    private static func text(of value: RunarValue, depth: Int) -> String {
        guard depth > 0, case .object(let members) = value, !members.isEmpty else { return JSONText.encode(value) }
        let lines = members.sorted { $0.key < $1.key }.map { name, value in
            "\(JSONText.encode(name)): \(text(of: value, depth: depth - 1))"
        }
        return "{\n" + lines.joined(separator: ",\n") + "\n}"
    }

    // MARK: Words

    /// The members of a description that people write.
    private static let wordNames = ["summary", "description", "tags"]

    /// Takes words over from the same places; the names of properties are no words.
    private static func keepWords(of old: RunarValue, in new: RunarValue, areNames: Bool = false) -> RunarValue {
        switch (new, old) {
        case (.object(var members), .object(let former)):
            for (name, value) in members {
                guard let old = former[name] else { continue }
                members[name] = keepWords(of: old, in: value, areNames: name == "properties" && !areNames)
            }
            for name in wordNames where !areNames { members[name] = former[name] ?? members[name] }
            return .object(members)
        case (.array(let elements), .array(let former)):
            return .array(
                elements.enumerated().map { index, element in
                    former.indices.contains(index) ? keepWords(of: former[index], in: element) : element
                }
            )
        default: return new
        }
    }
}

/// The named schemas: each is included once among the components, and referred to.
private struct NamedSchemas {
    private(set) var components: [String: RunarValue] = [:]

    mutating func json(_ schema: JSONSchema) -> RunarValue { schema.json { reference(to: $0) } }

    mutating func reference(to object: ObjectSchema) -> RunarValue? {
        guard let name = object.name else { return nil }
        if components[name] == nil {
            components[name] = [:]
            components[name] = object.json { reference(to: $0) }
        }
        return ["$ref": .string("#/components/schemas/\(name)")]
    }
}
