internal import Bytes
internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable internal import APIDescription
@testable internal import IdentityServer

@Suite("The description of the identity server's API") struct HTTPDescriptionTests {
    private static let source = "Sources/Apps/IdentityServer/Routes/IdentityEndpoints.swift"

    /// The description as the server serves it.
    private func document() async throws -> JSONDocument {
        let answer = try await HTTPCaller(Scene()).call(.get, "/openapi.json")
        #expect(answer.status == 200)
        return try #require(answer.json)
    }

    @Test func `each endpoint constant is served once`() throws {
        let text = try packageText(named: Self.source)
        let declared = text.matches(of: /= Endpoint<[^(]*\(\s*\.(get|post|put|patch|delete),\s*"([^"]+)"/)
        let constants = declared.map { "\($0.output.1.uppercased()) \($0.output.2)" }
        let endpoints = try HTTPCaller(Scene()).api.endpoints
        #expect(constants.count > 20 && text.split(separator: "= Endpoint<").count == constants.count + 1)
        #expect(endpoints.map { "\($0.route.method.rawValue) \($0.route.template)" }.sorted() == constants.sorted())
        #expect(Set(constants).count == constants.count)
        for endpoint in endpoints {
            #expect(endpoint.parameters == APIShape.names(in: endpoint.route.template), "\(endpoint.route.template)")
        }
    }

    @Test func `each endpoint is described, with its words and its credentials`() async throws {
        let document = try await document()
        let endpoints = try HTTPCaller(Scene()).api.endpoints
        #expect(document["servers"]?.elements?.first?["url"]?.text == Scene.origin)
        #expect(Set(document["paths"]?.members?.keys.map { $0 } ?? []) == Set(endpoints.map(\.route.template)))
        for endpoint in endpoints {
            let place = "\(endpoint.route.method.rawValue) \(endpoint.route.template)"
            let path = document["paths"]?[endpoint.route.template]
            let operation = try #require(path?[endpoint.route.method.rawValue.lowercased()], "\(place)")
            #expect(operation["summary"]?.text?.isEmpty == false, "\(place)")
            let schemes = try endpoint.shape().credentials.schemes.map(\.name)
            let stated = operation["security"]?.elements?.flatMap { $0.members?.keys.map { $0 } ?? [] } ?? []
            #expect(Set(stated) == Set(schemes), "\(place)")
        }
        let both: JSONDocument = [["bearer": []], ["x-auth-token": []]]
        #expect(document["paths"]?["/account"]?["get"]?["security"] == both)
    }

    @Test func `the schemas have the names of the reports, and forms are described in place`() async throws {
        let document = try await document()
        let schemas = try #require(document["components"]?["schemas"]?.members)
        let expected: Set = [
            "AccountReport", "AuthenticationResponse", "CeremonyReport", "CreationOptionsReport", "FailureAnswer",
            "PasskeysReport", "RequestOptionsReport", "SignedInReport", "TokenKeysReport",
        ]
        #expect(expected.subtracting(schemas.keys) == [])
        for name in schemas.keys {
            #expect(name.wholeMatch(of: /[A-Z][A-Za-z]*(\.[A-Z][A-Za-z]*)*/) != nil, "\(name)")
        }
        let body = document["paths"]?["/register"]?["post"]?["requestBody"]?["content"]?["application/json"]
        let required = Set(body?["schema"]?["required"]?.elements?.compactMap(\.text) ?? [])
        #expect(required == ["id", "rawId", "type", "response", "handle", "did", "didProof"])
    }

    @Test(.enabled(if: Validator.missing.isEmpty, Comment(rawValue: Validator.missing)))
    func `an independent validator accepts the description`() async throws {
        let text = try await HTTPCaller(Scene()).call(.get, "/openapi.json").text
        let answers = try await aside {
            try PythonScripts.lines(of: Validator.script, for: [text.replacing("\n", with: "")])
        }
        #expect(answers == ["valid"])
    }
}

/// OpenAPI 3.1 as the package openapi-spec-validator understands it (Tests/Interop/check_openapi.py).
private enum Validator {
    static let script = "check_openapi.py"
    static let missing = PythonScripts.missing(for: script, otherwise: "the description is not validated")
}
