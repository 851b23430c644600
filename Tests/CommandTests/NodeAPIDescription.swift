internal import APIDescription
internal import Console
internal import HTTPAPI

@testable internal import NodeModel
@testable internal import NodeService

/// The description of the node's API: `openapi.json` among the console's pages, and the table of access.
///
/// The words are written by people into the file itself, and each new document keeps them.
enum NodeAPIDescription {
    /// Returns everything that is answered: at the console, and over the socket in the home.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    static func shapes(of api: NodeAPI) throws -> [APIShape] {
        try ownShapes() + (api.operations + api.commandOperations).map { try $0.endpoint.shape() }
    }

    /// The routes of the console itself.
    private static func ownShapes() throws -> [APIShape] {
        let session = APIShape.Content.report(try SchemaReader.schema(of: ConsoleSessions.Session.self))
        let done = APIShape.Content.report(.object(ObjectSchema(fields: [])))
        let secret = try SchemaReader.object(of: ConsoleSessions.SecretForm.self)
        let path = NodeAPI.prefix + "/session"
        return [
            // The one request without a token.
            APIShape(.post, path, .none, body: .json(), input: secret, content: session),
            APIShape(.post, path + "/renew", .bearer, content: session),
            APIShape(.delete, path + "/all", .bearer, content: done),
            APIShape(.get, "/metrics", .bearer, content: .text),
        ]
    }

    /// Returns the document, with the words of an earlier one.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    static func document(of shapes: [APIShape], words: JSONDocument) throws -> JSONDocument {
        let document = OpenAPIDocument(
            title: "Runar",
            version: "1",
            servers: ["http://localhost:4280"],
            credentials: .bearer,
            failure: try SchemaReader.schema(of: FailureAnswer.self)
        )
        return try document.json(of: shapes, words: words)
    }

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
}
