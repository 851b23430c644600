internal import Bytes
internal import Identity
internal import Services
internal import TestSupport
internal import Testing

@Suite("The wire form of requests") struct WireTests {
    private let headers = [
        RequestHeader(path: "math/add"),
        RequestHeader(
            path: "$registry/services/list",
            contentType: .cbor,
            isIdempotent: true,
            streamsBody: true,
            timeLimit: .seconds(86_400),
            metadata: [.init(name: "traceparent", value: "00-ab-cd-01"), .init(name: "baggage", value: "")]
        ),
        RequestHeader(path: "küche/herd", contentType: .json, timeLimit: .milliseconds(1)),
    ]
    private let failures = [
        ServiceFailure(kind: .noService), ServiceFailure(kind: .handler, code: -1, message: "a", context: "b"),
    ]

    private func read(_ header: RequestHeader) throws -> RequestHeader {
        let bytes = header.bytes(after: [], body: [])
        var reader = ByteReader(bytes)
        return try RequestHeader(reader.readVarintPrefixedBytes(limit: RequestHeader.byteLimit))
    }

    @Test func `every header is read as it was written`() throws {
        for header in self.headers {
            try header.check()
            #expect(try self.read(header) == header)
        }
        for status in [.ok, .okStreaming] + self.failures.map(ResponseHeader.Status.failed) {
            let header = ResponseHeader(status: status, contentType: .cbor)
            var reader = ByteReader(header.bytes())
            let bytes = try reader.readVarintPrefixedBytes(limit: ResponseHeader.byteLimit)
            #expect(try ResponseHeader(bytes) == header)
        }
    }

    @Test func `the reserved content type is refused in both headers`() throws {
        for type in [2, 3] as [UInt8] {
            let request: [UInt8] = [0, type, 1, 1, 0x61, 0]
            let response: [UInt8] = [0, type]
            #expect(((try? RequestHeader(request)) != nil) == (type == 3))  // only the outcome counts
            #expect(((try? ResponseHeader(response)) != nil) == (type == 3))  // only the outcome counts
        }
    }

    @Test func `what is left of the time is rounded up and never above a day`() throws {
        for (given, read) in [
            (Duration.zero, Duration.milliseconds(1)), (.nanoseconds(1), .milliseconds(1)),
            (.nanoseconds(1_000_001), .milliseconds(2)), (.seconds(100_000), .seconds(86_400)),
            (.seconds(-3), .milliseconds(1)),
        ] {
            #expect(try self.read(RequestHeader(path: "a/b", timeLimit: given)).timeLimit == read)
        }
    }

    @Test(arguments: [
        "", "/a", "a//b", "a/", "home:a/b", "a/*", "a/{b}", "a/>", "a/\u{202E}b", String(repeating: "a", count: 513),
    ])
    func `a text with another spelling, a network or a wildcard is no path of a request`(text: String) {
        #expect(throws: WireError.self) { try RequestPath(text) }
    }

    @Test func `a path of a request has its segments and its text`() throws {
        for text in ["math/add", "küche/herd", "a", "$keys/x-y_z.1"] {
            let (path, topic) = (try RequestPath(text), try TopicPath(text))
            #expect(path.text == text && path.topic == topic)
        }
        #expect(RequestPath(try TopicPath("Home:/math//add"))?.text == "math/add")
        #expect(RequestPath(try TopicPath("math/*")) == nil)
    }

    @Test func `a header that is too large is not sent`() throws {
        let long = RequestHeader.Field(name: "n", value: String(repeating: "v", count: 1024))
        for header in [
            RequestHeader(path: "a/b", metadata: [.init(name: "", value: "")]),
            RequestHeader(path: "a/b", metadata: [.init(name: String(repeating: "n", count: 65), value: "")]),
            RequestHeader(path: "a/b", metadata: [.init(name: "n", value: long.value + "v")]),
            RequestHeader(path: "a/b", metadata: Array(repeating: long, count: 8)),
            RequestHeader(path: "a/b", metadata: Array(repeating: .init(name: "n", value: ""), count: 17)),
        ] {
            #expect(throws: WireError.self, "\(header.path.text)") { try header.check() }
        }
    }

    @Test func `damaged headers, responses, items and announcements are refused and never crash`() throws {
        neverCrash(on: self.headers.map { $0.bytes(after: [], body: []).dropFirst() }.map(Array.init)) {
            _ = try RequestHeader($0)
        }
        neverCrash(on: self.failures.map(\.bytes)) { _ = try ServiceFailure($0) }
        neverCrash(on: [[0, 1], [1, 2]] + self.failures.map { [2, 0] + $0.bytes }) { _ = try ResponseHeader($0) }
        neverCrash(on: [Sample.announcement.bytes]) { _ = try Announcement($0) }
    }

    @Test func `words of a failure arrive on one line, without what would steer a terminal`() throws {
        let sent = ServiceFailure(
            kind: .handler,
            message: "too cold\n\u{1b}[2J\u{202e}said\tthe oven\u{9b}1m",
            context: "a\r\nb\u{0}"
        )
        let read = try ServiceFailure(sent.bytes)
        #expect(read.message == "too cold [2Jsaid the oven1m")
        #expect(read.context == "a  b")
    }

    @Test func `a failure's words are cut at a character when they are too long`() throws {
        let failure = ServiceFailure(kind: .handler, message: String(repeating: "ü", count: 3000), context: "x")
        let read = try ServiceFailure(failure.bytes)
        #expect(read.message == String(repeating: "ü", count: 2048))
        let odd = ServiceFailure(kind: .handler, message: "a" + String(repeating: "ü", count: 3000))
        #expect(try ServiceFailure(odd.bytes).message == "a" + String(repeating: "ü", count: 2047))
    }

    @Test func `a failure of a later version is one of the handler`() throws {
        var bytes = ServiceFailure(kind: .busy, code: 5, message: "m").bytes
        bytes[0] = 200
        #expect(try ServiceFailure(bytes) == ServiceFailure(kind: .handler, code: 5, message: "m"))
    }
}

enum Sample {
    static let announcement = Announcement(
        version: 7,
        offers: [
            ServiceOffer(path: "math", version: "1.0.0", actions: [ActionOffer(name: "add", isIdempotent: true)]),
            ServiceOffer(
                path: "users",
                isRunning: false,
                actions: [ActionOffer(name: "users/{id}", streams: true), ActionOffer(name: "list")]
            ),
        ]
    )
}
