internal import HTTPAPI
internal import Testing

@testable internal import APIDescription

@Suite("Credentials of requests") struct CredentialTests {
    private static let either = Credentials([.bearer, .field("x-auth-token")])

    private func request(_ fields: [(String, String)]) throws -> RouteRequest {
        var request = RouteRequest()
        for (name, value) in fields { try request.fields.append(name, value) }
        return request
    }

    @Test(arguments: ["Bearer aZ09-._~+/==", "bearer aZ09-._~+/==", "BEARER  aZ09-._~+/=="])
    func `a bearer token is read with its scheme in any case`(_ field: String) throws {
        #expect(try Credentials.bearer.token(in: request([("authorization", field)])) == "aZ09-._~+/==")
    }

    @Test(arguments: [
        [], ["Bearer"], ["Basic abc"], ["abc"], ["Bearer a b"], ["Bearer a,b"], ["Bearer a", "Bearer b"], ["Bearer ä"],
    ])
    func `a request without exactly one bearer token is refused`(_ fields: [String]) throws {
        let request = try request(fields.map { ("Authorization", $0) })
        let failure = #expect(throws: RouteFailure.self) { try Credentials.bearer.token(in: request) }
        #expect(failure?.status == 401 && failure?.code == "no-token")
        #expect(failure?.message == "send a token in the field Authorization: Bearer")
    }

    @Test func `the first scheme that a request uses has the token`() throws {
        let token = Self.either.token
        #expect(try token(request([("X-Auth-Token", "a")])) == "a")
        #expect(try token(request([("X-Auth-Token", "a"), ("Authorization", "Bearer b")])) == "b")
        #expect(try token(request([("X-Auth-Token", "a"), ("Authorization", "Basic b")])) == "a")
        let failure = #expect(throws: RouteFailure.self) { try token(request([("X-Auth-Token", "a b")])) }
        #expect(failure?.message == "send a token in the field Authorization: Bearer or x-auth-token")
        #expect(throws: RouteFailure.self) { try token(request([("X-Auth-Token", "a"), ("X-Auth-Token", "b")])) }
        #expect(throws: RouteFailure.self) { try Credentials.none.token(in: request([("Authorization", "Bearer b")])) }
    }
}
