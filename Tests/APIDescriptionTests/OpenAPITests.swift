internal import CommandModel
internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable internal import APIDescription

@Suite("Descriptions in OpenAPI") struct OpenAPITests {
    private func document(words: JSONDocument = [:]) throws -> JSONDocument {
        try Accounts.document.json(of: Accounts.served.map { try $0.shape() }, words: words)
    }

    private func operation(_ method: String, _ path: String) throws -> JSONDocument {
        try #require(document()["paths"]?[path]?[method])
    }

    @Test func `an operation has its words, its form and its answers`() throws {
        let create = try operation("post", "/accounts/{name}")
        #expect(create["summary"] == "Create an account" && create["tags"] == ["accounts"])
        #expect(create["description"] == "The first key signs." && create["security"] == nil)
        #expect(create["parameters"] == [["$ref": "#/components/parameters/name"]])
        #expect(create["requestBody"]?["required"] == true)
        let responses = try #require(create["responses"])
        #expect(responses.members?.keys.sorted() == ["201", "409", "default"])
        #expect(responses["201"]?["headers"]?["x-auth-token"]?["description"] == "The token of the account.")
        #expect(responses["409"]?["description"] == "The name is taken.")
        #expect(
            responses["409"]?["content"]?["application/json"]?["schema"] == [
                "$ref": "#/components/schemas/FailureAnswer"
            ]
        )
    }

    @Test func `a query is described by parameters, and the other contents by their types`() throws {
        let find = try operation("get", "/accounts/{name}")
        #expect(
            find["parameters"]?.elements?.dropFirst() == [
                [
                    "name": "limit", "in": "query",
                    "schema": ["type": "integer", "minimum": 0, "maximum": 65535],
                ],
                ["name": "kind", "in": "query", "schema": ["type": "string", "enum": ["person", "device"]]],
            ]
        )
        let types = try [("/logo", "200"), ("/motto", "200"), ("/changes", "200")].map { path, status in
            try operation("get", path)["responses"]?[status]?["content"]?.members?.keys.sorted()
        }
        #expect(types == [["application/octet-stream"], ["text/plain"], ["application/x-ndjson"]])
        let upload = try operation("put", "/logo")
        #expect(upload["requestBody"]?["content"]?.members?.keys.sorted() == ["application/octet-stream"])
        #expect(upload["responses"]?["204"] == ["description": "Done."])
    }

    @Test func `an operation states the credentials that differ from those of the document`() throws {
        #expect(try operation("delete", "/accounts/{name}")["security"] == [["bearer": []]])
        #expect(try operation("delete", "/accounts/{name}")["x-audit"] == true)
        #expect(try document()["security"] == nil)
        var guarded = Accounts.document
        guarded.credentials = .bearer
        let document = try guarded.json(of: Accounts.served.map { try $0.shape() })
        #expect(document["security"] == [["bearer": []]])
        #expect(document["paths"]?["/accounts/{name}"]?["delete"]?["security"] == nil)
        #expect(document["paths"]?["/accounts/{name}"]?["post"]?["security"] == [])
        #expect(document["paths"]?["/changes"]?["get"]?["security"] == [["bearer": []], ["x-auth-token": []]])
        let schemes = document["components"]?["securitySchemes"]
        #expect(schemes?["bearer"] == ["type": "http", "scheme": "bearer"])
        #expect(schemes?["x-auth-token"] == ["type": "apiKey", "in": "header", "name": "x-auth-token"])
    }

    @Test func `failures of another form are described in place`() throws {
        let responses = try #require(operation("get", "/resolve")["responses"])
        for status in ["404", "default"] {
            let schema = responses[status]?["content"]?["application/json"]?["schema"]
            #expect(schema?["properties"] == ["error": ["type": "string"]], "\(status)")
        }
        #expect(responses["404"]?["description"] == "No account has the name.")
        #expect(try operation("get", "/motto")["responses"]?["default"] == ["$ref": "#/components/responses/Failure"])
    }

    @Test func `the words of an earlier document are kept at their places`() throws {
        let words: JSONDocument = [
            "paths": [
                "/accounts/{name}": [
                    "get": [
                        "summary": "Find it", "tags": ["others"], "parameters": ["x", ["description": "The most."]],
                        "deprecated": true,
                    ]
                ],
                "/gone": ["get": ["summary": "Gone"]],
            ],
            "components": [
                "schemas": [
                    "Accounts.Account": [
                        "properties": ["name": ["description": "In lower case."], "description": ["type": "string"]]
                    ]
                ]
            ],
        ]
        let document = try document(words: words)
        let find = document["paths"]?["/accounts/{name}"]?["get"]
        #expect(find?["summary"] == "Find it" && find?["tags"] == ["others"] && find?["deprecated"] == nil)
        #expect(find?["parameters"]?.elements?[1]["description"] == "The most.")
        #expect(document["paths"]?["/gone"] == nil)
        let account = document["components"]?["schemas"]?["Accounts.Account"]?["properties"]
        #expect(account?["name"]?["description"] == "In lower case." && account?["description"] == nil)
        #expect(try self.document(words: document) == document)
    }

    @Test func `two types with one name are refused`() throws {
        func shape(_ field: String, _ path: String) -> APIShape {
            let object = ObjectSchema(name: "Report", fields: [ObjectSchema.Field(name: field, schema: .string)])
            return APIShape(.get, path, .none, content: .report(.object(object)))
        }
        _ = try Accounts.document.json(of: [shape("a", "/a"), shape("a", "/b")])
        #expect(throws: SchemaReader.Failure.self) {
            try Accounts.document.json(of: [shape("a", "/a"), shape("b", "/b")])
        }
    }

    @Test func `a server serves its own description`() async throws {
        let route = try Accounts.document.route(of: Accounts.served)
        #expect(route.method == .get && route.template == "/openapi.json")
        guard case .json(let bytes) = await route.answer(RouteRequest()).content else {
            Issue.record("the description is no JSON")
            return
        }
        #expect(try JSONDocument(bytes) == document())
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(#""post": {"description":"The first key signs.""#) })
    }

    @Test(.enabled(if: OpenAPIValidator.missing.isEmpty, Comment(rawValue: OpenAPIValidator.missing)))
    func `an independent validator accepts the descriptions, and refuses damaged ones`() async throws {
        var damaged = try #require(document().members)
        damaged["info"] = [:]
        let node = try packageText(named: "Sources/Apps/ConsolePages/web/openapi.json")
        let texts = [JSONText.encode(try document()), JSONText.encode(damaged), node.replacing("\n", with: "")]
        let answers = try await aside { try PythonScripts.lines(of: OpenAPIValidator.script, for: texts) }
        #expect(answers[0] == "valid" && answers[2] == "valid", "\(answers)")
        #expect(answers[1].contains("title"), "\(answers[1])")
    }
}

/// OpenAPI 3.1 as the package openapi-spec-validator understands it (Tests/Interop/check_openapi.py).
private enum OpenAPIValidator {
    static let script = "check_openapi.py"
    static let missing = PythonScripts.missing(for: script, otherwise: "the descriptions are not validated")
}
