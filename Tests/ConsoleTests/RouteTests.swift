internal import Testing

@testable internal import Console

@Suite("Routes of the console") struct RouteTests {
    private let table = RouteTable([
        ConsoleRoute(.get, "/metrics") { _ in .text("") },
        ConsoleRoute(.get, "/api/v1/networks") { _ in .text("") },
        ConsoleRoute(.get, "/api/v1/networks/{network}") { _ in .text("") },
        ConsoleRoute(.patch, "/api/v1/networks/{network}") { _ in .text("") },
        ConsoleRoute(.get, "/api/v1/networks/new") { _ in .text("") },
        ConsoleRoute(.post, "/api/v1/peers/{peer}/files/{file}") { _ in .text("") },
    ])

    private func found(_ method: String, _ path: String) -> String {
        switch table.match(method, path) {
        case .route(let route, let parameters):
            ([route.template] + parameters.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }).joined(separator: " ")
        case .otherMethods(let methods): methods.map(\.rawValue).joined(separator: ",")
        case .nothing: "nothing"
        }
    }

    @Test func `a path is split into the names of its template`() {
        #expect(found("GET", "/metrics") == "/metrics")
        #expect(found("GET", "/api/v1/networks/a%20b%2Fc") == "/api/v1/networks/{network} network=a b/c")
        #expect(found("POST", "/api/v1/peers/x/files/%C3%A4") == "/api/v1/peers/{peer}/files/{file} file=ä peer=x")
    }

    @Test func `what is named outright goes before what is only a place`() {
        #expect(found("GET", "/api/v1/networks/new") == "/api/v1/networks/new")
    }

    @Test func `another method is told which ones there are`() {
        #expect(found("DELETE", "/api/v1/networks/a") == "GET,PATCH")
        #expect(found("get", "/metrics") == "GET")
    }

    @Test(arguments: [
        "", "/", "/metrics/", "/Metrics", "//metrics", "/api/v1/networks/", "/api/v1/networks/a/b",
        "/api/v1/networks/%",
        "/api/v1/networks/%0", "/api/v1/networks/%FF", "/api/v1/networks/%zz", "/api/v1/../metrics",
    ])
    func `nothing else is a path`(path: String) {
        #expect(found("GET", path) == "nothing")
    }

    @Test func `paths of programs are told from pages`() {
        #expect(table.covers("/metrics") && table.covers("/api/v1/anything") && table.covers("/api/"))
        #expect(!table.covers("/") && !table.covers("/api") && !table.covers("/index.html"))
    }

    @Test func `a query is read as browsers write it`() {
        #expect(PercentText.query("a=1&b=x%20y+z&c&=d&a=2") == ["a": "2", "b": "x y z", "c": "", "": "d"])
        #expect(PercentText.query("") == [:] && PercentText.query("a=%") == nil && PercentText.query("%FF=1") == nil)
    }

    @Test func `a name of any letters stands in a field`() {
        #expect(PercentText.encode("a b\"\r\nä.txt") == "a%20b%22%0D%0A%C3%A4.txt")
        #expect(PercentText.decode(PercentText.encode("ä%\u{202E}")[...]) == "ä%\u{202E}")
    }
}
