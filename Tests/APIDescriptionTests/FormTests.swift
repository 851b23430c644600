internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable internal import APIDescription

@Suite("Forms of requests") struct FormTests {
    private enum Order: String, Codable, CaseIterable { case newest, oldest }

    private struct Form: Codable {
        struct Part: Codable { let size: UInt8 }
        let name: String
        let order: Order?
        let parts: [Part]?
    }

    private struct Query: Codable {
        let limit: UInt16?
        let offset: Int?
        let all: Bool?
        let order: Order?
        let name: String?
    }

    private func request(_ body: String = "", query: [String: String] = [:]) -> RouteRequest {
        var request = RouteRequest()
        request.body = Array(body.utf8)
        request.query = query
        return request
    }

    @Test(arguments: [
        ("{}", "name", #""name" is missing"#),
        ("", "name", #""name" is missing"#),
        (#"{"name":null}"#, "name", #""name" does not have the type that /openapi.json describes"#),
        (#"{"name":5}"#, "name", #""name" does not have the type that /openapi.json describes"#),
        (#"{"name":"a","order":"last"}"#, "order", #""order" must be one of newest, oldest"#),
        (
            #"{"name":"a","parts":[{"size":1},{"size":"x"}]}"#, "parts.Index 1.size",
            #""parts.Index 1.size" does not have the type that /openapi.json describes"#
        ),
    ])
    func `a member that is missing, of another type or another value is named`(
        _ body: String,
        _ field: String,
        _ message: String
    ) {
        let failure = #expect(throws: RouteFailure.self) { try request(body).form(Form.self) }
        #expect(failure?.status == 400 && failure?.code == "bad-field" && failure?.exitCode == 64)
        #expect(failure?.context == ["field": field] && failure?.message == message)
    }

    @Test(arguments: ["[", "[1]", "null", "\u{0}", #"{"name":"#])
    func `a body that is no JSON object is refused`(_ body: String) {
        let failure = #expect(throws: RouteFailure.self) { try request(body).form(Form.self) }
        #expect(failure?.status == 400 && failure?.code == "bad-json" && failure?.context == [:])
    }

    @Test func `damaged forms are refused without a crash`() {
        let valid = #"{"name":"a","order":"newest","parts":[{"size":1},{"size":255}]}"#
        neverCrash(on: [Array(valid.utf8)]) { body in
            var request = RouteRequest()
            request.body = body
            _ = try request.form(Form.self)
        }
        neverCrash(onTexts: ["65535", "-1", "true", "newest"]) { text in
            for name in ["limit", "offset", "all", "order", "name"] {
                _ = try request(query: [name: text]).queryForm(Query.self)
            }
        }
    }

    @Test(arguments: [
        ("limit", "-1"), ("limit", "65536"), ("limit", "x"), ("offset", "1.5"), ("offset", "99999999999999999999"),
        ("all", "yes"), ("order", "last"),
    ])
    func `a parameter of the query out of its bounds is named`(_ name: String, _ text: String) {
        let failure = #expect(throws: RouteFailure.self) { try request(query: [name: text]).queryForm(Query.self) }
        #expect(failure?.status == 400 && failure?.context == ["field": name])
        #expect(failure?.message.hasPrefix("\"\(name)\" must be ") == true)
    }

    @Test func `a query is read in the types of the form, without its empty and unknown parameters`() throws {
        let query = ["limit": "65535", "offset": "-3", "all": "1", "order": "oldest", "name": "", "other": "x"]
        let form = try request(query: query).queryForm(Query.self)
        #expect(form.limit == 65535 && form.offset == -3 && form.all == true)
        #expect(form.order == .oldest && form.name == nil)
    }

    @Test func `a number out of its range is named with the range`() throws {
        #expect(try RouteRequest.number(nil, "limit", in: 1...9) == nil)
        #expect(try RouteRequest.number(9, "limit", in: 1...9) == 9)
        let failure = #expect(throws: RouteFailure.self) { try RouteRequest.number(0, "limit", in: 1...9) }
        #expect(failure?.message == #""limit" must be a whole number from 1 to 9"#)
    }
}
