internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

@Suite("Requests and URLs of a web client") struct URLTests {
    private static let accepted: [(text: String, host: String, port: UInt16, target: String, result: String)] = [
        ("https://example.org", "example.org", 443, "/", "https://example.org/"),
        ("HTTPS://Example.ORG:443/A?b", "example.org", 443, "/A?b", "https://example.org/A?b"),
        ("http://localhost:8080/a/b?c=d/e?f", "localhost", 8080, "/a/b?c=d/e?f", "http://localhost:8080/a/b?c=d/e?f"),
        ("https://a_b.xn--4ca.example?q", "a_b.xn--4ca.example", 443, "/?q", "https://a_b.xn--4ca.example/?q"),
        ("https://192.0.2.1:1/", "192.0.2.1", 1, "/", "https://192.0.2.1:1/"),
        ("https://[2001:DB8:0::1]:65535/%41", "[2001:db8::1]", 65_535, "/%41", "https://[2001:db8::1]:65535/%41"),
    ]

    private static let refused = [
        "", "https", "https:", "https:/a", "ftp://a.b/", "//a.b/", "/a", "https://", "https:///a", "https://?a",
        "https://user@a.b/", "https://user:word@a.b/", "https://a.b@", "https://a b/", "https://a.b/ ", " https://a.b/",
        "https://a..b/", "https://.a/", "https://a./", "https://-a.b/", "https://a-.b/", "https://a.b\n/",
        "https://127.1/", "https://0x7f.1/", "https://2130706433/", "https://1.2.3.4.5/", "https://256.1.1.1/",
        "https://01.2.3.4/", "https://a.1b/", "https://bücher.example/", "https://a%2eb/", "https://a.b\\@c.d/",
        "https://a.b:/", "https://a.b:0/", "https://a.b:65536/", "https://a.b:+1/", "https://a.b:1:2/",
        "https://a.b:8a/",
        "https://[::1/", "https://[]/", "https://[1.2.3.4]/", "https://[fe80::1%1]/", "https://[fe80::1%251]/",
        "https://[::1]a/", "https://::1/", "https://a.b/#c", "https://a.b#c", "https://a.b/%", "https://a.b/%4",
        "https://a.b/%zz", "https://a.b/\u{0}", "https://a.b/ä", "https://a.b/<>", "https://a.b/a\\b",
        "https://a.b/{}",
        "https://a.b/\"", "https://\(String(repeating: "a", count: 64)).b/",
        "https://\(String(repeating: "a.", count: 127))b/", "https://a.b/\(String(repeating: "a", count: 9000))",
    ]

    @Test func `URLs are read in their one form`() throws {
        for expected in Self.accepted {
            let url = try WebURL(expected.text)
            #expect("\(url.host)" == expected.host && url.port == expected.port && url.target == expected.target)
            #expect("\(url)" == expected.result)
            #expect(try WebURL("\(url)") == url)
        }
    }

    @Test func `ambiguous and unusable URLs are refused`() {
        for text in Self.refused {
            let error = #expect(throws: WebClientError.self, "\(text.debugDescription)") { try WebURL(text) }
            guard case .invalidURL? = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `another target stays at the same place`() throws {
        let base = try WebURL("https://a.b:8443/c?d")
        #expect(try "\(WebURL(base, target: "/e?f"))" == "https://a.b:8443/e?f")
        for target in ["", "e", "@c.d/", ":1/", "//c.d\n", "/a#b", "/\u{0}"] {
            #expect(throws: WebClientError.self) { try WebURL(base, target: target) }
        }
    }

    @Test func `damaged URLs never crash`() {
        neverCrash(onTexts: Self.accepted.map(\.text) + Self.refused.filter { $0.count < 100 }) { text in
            let url = try WebURL(text)
            #expect(try WebURL("\(url)") == url)
        }
    }

    @Test func `requests that would change the form of the message are refused`() async throws {
        var configuration = WebClient.Configuration()
        configuration.bodyByteLimit = 3
        let client = try WebClient(configuration)
        let url = try WebURL("https://192.0.2.1/")
        let requests = [
            WebRequest("", url), WebRequest("GET /", url), WebRequest("G\r\n", url), WebRequest("CONNECT", url),
            WebRequest("GET", url, fields: [WebField("", "a")]), WebRequest("GET", url, fields: [WebField("a:", "b")]),
            WebRequest("GET", url, fields: [WebField("A", "b\r\nC: d")]),
            WebRequest("GET", url, fields: [WebField("A", "ä")]),
            WebRequest("GET", url, fields: [WebField("HOST", "a")]),
            WebRequest("GET", url, fields: [WebField("Transfer-Encoding", "chunked")]),
            WebRequest("GET", url, fields: [WebField("A", String(repeating: "a", count: 40_000))]),
            WebRequest("PUT", url, body: [1, 2, 3, 4]),
        ]
        for request in requests {
            let error = await #expect(throws: WebClientError.self) { try await client.send(request) }
            guard case .invalidRequest? = error else {
                Issue.record("\(request.method) \(request.fields): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `a pin is 32 bytes behind its algorithm`() throws {
        let text = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        #expect(try KeyPin(text).digest == Array(0..<32) && "\(KeyPin(text))" == text)
        #expect(KeyPin(digest: Array(0..<31)) == nil)
        let wrong = [
            "", "sha256/", "sha1/" + text.dropFirst(7), String(text.dropFirst(7)), text + "=", String(text.dropLast()),
            text.replacing("8=", with: "9="), text.replacing("A", with: " "), text.replacing("=", with: "A"),
        ]
        for text in wrong { #expect(throws: TLSError.badPin(text: text)) { try KeyPin(text) } }
    }
}
