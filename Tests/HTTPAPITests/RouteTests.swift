internal import Testing

@testable internal import HTTPAPI

@Suite("Routes of a server") struct RouteTests {
    private let table = RouteTable(
        [
            Route(.get, "/metrics") { _ in .text("") },
            Route(.get, "/api/v1/networks") { _ in .text("") },
            Route(.get, "/api/v1/networks/{network}") { _ in .text("") },
            Route(.patch, "/api/v1/networks/{network}") { _ in .text("") },
            Route(.get, "/api/v1/networks/new") { _ in .text("") },
            Route(.delete, "/api/v1/networks/{name}/members") { _ in .text("") },
            Route(.get, "/api/v1/{kind}/new/members") { _ in .text("") },
            Route(.post, "/api/v1/peers/{peer}/files/{file}") { _ in .text("") },
        ]
    )

    /// The route and the parameters of a request, or the methods that its path has, or "nothing".
    private func found(_ method: String, _ path: String) -> String {
        switch table.find(method, path).finding {
        case .route(let route, let parameters):
            let words = [route.template] + parameters.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            return words.joined(separator: " ")
        case .otherMethods(let methods): return methods
        case .none: return "nothing"
        }
    }

    @Test func `a path is split into the names of its template`() {
        #expect(found("GET", "/metrics") == "/metrics")
        #expect(found("GET", "/api/v1/networks/a%20b%2Fc") == "/api/v1/networks/{network} network=a b/c")
        #expect(
            found("POST", "/api/v1/peers/x/files/%C3%A4") == "/api/v1/peers/{peer}/files/{file} file=ä peer=x"
        )
    }

    @Test func `a literal path segment is preferred to a placeholder`() {
        #expect(found("GET", "/api/v1/networks/new") == "/api/v1/networks/new")
        #expect(found("DELETE", "/api/v1/networks/new/members") == "/api/v1/networks/{name}/members name=new")
        #expect(found("GET", "/api/v1/peers/new/members") == "/api/v1/{kind}/new/members kind=peers")
    }

    @Test func `a request with another method is answered with those that the path has`() {
        #expect(found("DELETE", "/api/v1/networks/a") == "GET, HEAD, PATCH")
        #expect(found("OPTIONS", "/metrics") == "GET, HEAD")
        #expect(found("HEAD", "/api/v1/peers/x/files/y") == "POST")
        #expect(table.find("DELETE", "/api/v1/networks/a").template == "/api/v1/networks/{network}")
    }

    @Test func `HEAD finds the route of GET`() {
        #expect(found("HEAD", "/metrics") == "/metrics")
        #expect(found("HEAD", "/api/v1/networks/a") == "/api/v1/networks/{network} network=a")
    }

    @Test(arguments: [
        "", "/", "/metrics/", "/Metrics", "//metrics", "metrics", "/api/v1/networks/", "/api/v1/networks/a/b",
        "/api/v1/networks/%",
        "/api/v1/networks/%0", "/api/v1/networks/%FF", "/api/v1/networks/%zz", "/api/v1/../metrics", "/%6Detrics",
    ])
    func `an invalid path is refused`(path: String) {
        #expect(found("GET", path) == "nothing")
        #expect(table.find("GET", path).template == nil)
    }

    @Test func `a route has any path, the root included`() {
        let routes = ["/", "/.well-known/{name}"].map { template in Route(.get, template) { _ in .text("") } }
        let table = RouteTable(routes)
        #expect(table.find("GET", "/").template == "/")
        #expect(table.find("GET", "/.well-known/jwks.json").template == "/.well-known/{name}")
        #expect(table.find("GET", "//").template == nil)
    }

    @Test func `a query is read as browsers write it`() {
        #expect(PercentText.query("a=1&b=x%20y+z&c&=d&a=2") == ["a": "2", "b": "x y z", "c": "", "": "d"])
        #expect(PercentText.query("") == [:] && PercentText.query("a=%") == nil && PercentText.query("%FF=1") == nil)
    }

    @Test func `a field holds a name of any letters`() {
        #expect(PercentText.encode("a b\"\r\nä.txt") == "a%20b%22%0D%0A%C3%A4.txt")
        #expect(PercentText.decode(PercentText.encode("ä%\u{202E}")[...]) == "ä%\u{202E}")
    }
}
