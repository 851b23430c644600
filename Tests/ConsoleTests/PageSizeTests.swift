internal import Console
internal import Foundation
internal import HTTPAPI
internal import TestSupport
internal import Testing

/// The size of the pages on the line, as an independent client counts and unpacks them.
@Suite(
    "Pages of the console over HTTP",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct PageSizeTests {
    /// The bytes on the line of all that a browser ever loads.
    private static let zippedByteLimit = 168_000
    /// The bytes of all files, so that they do not grow unseen: a little more than there are.
    private static let byteLimit = 612_000
    /// The description for programs, which no page loads.
    private static let description = "openapi.json"

    private let pages = PageTable().pages

    @Test func `what a browser loads is less than 168 kB on the line, and unpacked what is in the folder`()
        async throws
    {
        let pages = pages
        try await withConsole { port in
            let fields = [["Host", "localhost:\(port)"], ["Accept-Encoding", "gzip, deflate, br, zstd"]]
            let answers = try await ConsoleVisitor.fetch(port, pages.map { ("GET", "/" + $0.path, fields) })
            for (page, answer) in zip(pages, answers) {
                #expect(answer.status == 200 && Array(answer.body.utf8) == page.bytes, "\(page.path)")
                #expect(answer.headers["content-length"] == "\(answer.length)", "\(page.path)")
                #expect(answer.headers["content-type"] == page.contentType, "\(page.path)")
                #expect(answer.length <= page.bytes.count, "\(page.path)")
            }
            let loaded = zip(pages, answers).filter { $0.0.path != Self.description }.map(\.1.length)
            let (sum, whole) = (loaded.reduce(0, +), pages.map(\.bytes.count).reduce(0, +))
            print("the files of the console have \(whole) bytes; a browser loads at most \(sum) of them on the line")
            #expect(loaded.count == pages.count - 1)
            #expect(answers.count == pages.count && sum < Self.zippedByteLimit && whole < Self.byteLimit)
        }
    }

    @Test func `who does not ask for gzip gets the file itself, and neither is taken for the other`() async throws {
        let first = try #require(PageTable()["/app.js"])
        try await withConsole { port in
            let host = ["Host", "localhost:\(port)"]
            let zipped = ["Accept-Encoding", "gzip"]
            let asked = { (fields: [[String]]) in ("GET", "/app.js", [host] + fields) }
            let answers = try await ConsoleVisitor.fetch(port, [asked([]), asked([zipped])])
            let (plain, packed) = (answers[0], answers[1])
            #expect(plain.headers["content-encoding"] == nil && plain.length == first.bytes.count)
            #expect(packed.headers["content-encoding"] == "gzip" && packed.length < first.bytes.count / 2)
            #expect(plain.body == packed.body)
            let tags = try answers.map { try #require($0.headers["etag"]) }
            #expect(tags[0] == first.tag && tags[0] != tags[1])
            let again = try await ConsoleVisitor.fetch(
                port,
                [
                    asked([["If-None-Match", tags[0]]]),
                    asked([zipped, ["If-None-Match", tags[1]]]),
                    asked([zipped, ["If-None-Match", "\"other\", W/\(tags[1])"]]),
                    asked([zipped, ["If-None-Match", "*"]]),
                    asked([["If-None-Match", tags[1]]]),
                    asked([zipped, ["If-None-Match", tags[0]]]),
                    asked([zipped, ["If-None-Match", "\"other\""]]),
                ]
            )
            #expect(again.map(\.status) == [304, 304, 304, 304, 200, 200, 200])
            #expect((answers + again).allSatisfy { $0.headers["vary"] == "Accept-Encoding" })
            #expect(again[1].headers["etag"] == tags[1] && again[1].length == 0)
        }
    }
}
