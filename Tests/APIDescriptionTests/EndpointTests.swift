internal import Concurrency
internal import HTTPAPI
internal import Testing

@testable internal import APIDescription

@Suite("Endpoints") struct EndpointTests {
    /// Returns the answer of a route as its server would; the name in the path is that of an account.
    private func answer(
        _ method: Route.Method,
        _ template: String,
        name: String = "ada",
        body: String = "",
        query: [String: String] = [:],
        token: String? = nil,
        of endpoints: [ServedEndpoint] = Accounts.served
    ) async throws -> (answer: RouteAnswer, text: String) {
        let found = endpoints.first { $0.route.method == method && $0.route.template == template }
        let route = try #require(found).route
        var request = RouteRequest()
        request.parameters = ["name": name]
        request.body = Array(body.utf8)
        request.query = query
        if let token { try request.fields.append("Authorization", "Bearer \(token)") }
        let answer = await route.answer(request)
        guard case .json(let bytes) = answer.content else { return (answer, "") }
        return (answer, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `a report has the status of its endpoint, and the fields of its handler`() async throws {
        let form = #"{"keys":[{"id":"k","kind":"device"}]}"#
        let (answer, text) = try await answer(.post, "/accounts/{name}", body: form)
        #expect(answer.status == 201 && answer.fields["X-Auth-Token"] == "token-of-ada")
        #expect(text == #"{"keys":[{"id":"k","kind":"device"}],"labels":{},"name":"ada"}"#)
    }

    @Test func `the form of a request without a body is the query`() async throws {
        let (answer, text) = try await answer(.get, "/accounts/{name}", query: ["limit": "7"])
        #expect(answer.status == 200 && text == #"{"keys":[],"labels":{"limit":"7"},"name":"ada"}"#)
        #expect(try await self.answer(.get, "/accounts/{name}", query: ["limit": "-7"]).answer.status == 400)
    }

    @Test func `an error with a code is answered with its status, word and message`() async throws {
        let (answer, text) = try await answer(.get, "/accounts/{name}", name: "bob")
        #expect(answer.status == 404)
        #expect(
            text == #"{"error":{"code":"no-account","context":{},"exitCode":66,"message":"there is no account bob"}}"#
        )
    }

    @Test(arguments: [("broken", "damaged-store"), ("odd", "internal")])
    func `a fault of the server is answered without details`(_ name: String, _ code: String) async throws {
        let (answer, text) = try await answer(.get, "/accounts/{name}", name: name)
        #expect(answer.status == 500 && text.contains("\"\(code)\""))
        #expect(!text.contains("/var/lib") && !text.contains("hunter2") && text.contains("the server failed"))
    }

    @Test func `a request without a token is refused with a challenge before its handler runs`() async throws {
        let (refused, text) = try await answer(.delete, "/accounts/{name}")
        #expect(refused.status == 401 && refused.fields["WWW-Authenticate"] == "Bearer")
        #expect(text.contains("Authorization: Bearer"))
        let wrong = try await answer(.delete, "/accounts/{name}", token: "wrong")
        #expect(wrong.answer.status == 401 && wrong.answer.fields["WWW-Authenticate"] == "Bearer")
        #expect(wrong.text.contains("the token is not valid"))
        let (deleted, _) = try await answer(.delete, "/accounts/{name}", token: "right")
        guard case .empty = deleted.content else {
            Issue.record("the answer has a body")
            return
        }
        #expect(deleted.status == 204)
        // A handler that does not read the token is not reached either.
        #expect(try await self.answer(.put, "/logo").answer.status == 401)
        #expect(try await self.answer(.put, "/logo", token: "any").answer.status == 204)
    }

    @Test func `the rules of a server run before the form is read, and make its failures`() async throws {
        let checks = Locked<[Credentials]>([])
        let calls = Locked(0)
        let rules = EndpointRules(
            check: { credentials, request in
                checks.withLock { $0.append(credentials) }
                guard request.origin == .network else { throw RouteFailure(403, "only-there", "not here") }
            },
            failure: { error, _ in
                var failure = RouteFailure(answering: error)
                failure.message = "refused: \(failure.message)"
                return .failure(failure)
            }
        )
        let served = Accounts.create.serve(rules) { _ in
            calls.withLock { $0 += 1 }
            return Accounts.Account(name: "", keys: [], labels: [:])
        }
        // The body is damaged as well, which a request that is refused does not learn.
        let (answer, text) = try await answer(.post, "/accounts/{name}", body: "[", of: [served])
        #expect(answer.status == 403 && text.contains("refused: not here"))
        #expect(checks.withLock { $0 } == [.none] && calls.withLock { $0 } == 0)
    }

    @Test func `an endpoint may have failures of another form`() async throws {
        let (answer, text) = try await answer(.get, "/resolve")
        #expect(answer.status == 404 && text == #"{"error":"no-account"}"#)
    }

    @Test func `the body, the parameters and the shape of a route are those of its endpoint`() throws {
        let route = Accounts.served[0].route
        #expect(route.body == .json(limit: 4096) && route.method == .post && route.template == "/accounts/{name}")
        for endpoint in Accounts.served {
            #expect(endpoint.parameters == APIShape.names(in: endpoint.route.template))
            let shape = try endpoint.shape()
            #expect(shape.method == endpoint.route.method && shape.template == endpoint.route.template)
            #expect(shape.body == endpoint.route.body)
        }
        #expect(try Accounts.upload.shape().status == 204 && Accounts.find.shape().status == 200)
    }

    @Test func `the parameters of a path are read in its order`() throws {
        struct Number: PathParameter {
            static let parameter = "number"
            let segment: String

            init(segment: String) throws {
                guard Int(segment) != nil else { throw RouteRequest.badField("number", "must be a number") }
                self.segment = segment
            }
        }
        typealias Path = PathPair<Accounts.Name, Number>
        #expect(Path.names == ["name", "number"])
        let path = try Path(parameters: ["name": "ada", "number": "7"])
        #expect(path.parameters == ["name": "ada", "number": "7"])
        let failure = #expect(throws: RouteFailure.self) { try Path(parameters: ["name": "ada", "number": "x"]) }
        #expect(failure?.context == ["field": "number"])
    }
}
