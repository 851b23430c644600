internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The parts of the chat that are values.
@Suite("Chat") struct ChatTests {
    // MARK: Keys

    @Test func `the sequences of a terminal are keys, however they are cut`() {
        let bytes: [UInt8] = Array(
            "aé漢🙂\r\n\u{7F}\u{1B}[A\u{1B}[5~\u{1B}OH\u{1B}\r\u{6}\u{1B}[200~x\r\ny\u{7}\u{1B}[201~z".utf8
        )
        let expected: [Key] = [
            .character("a"), .character("é"), .character("漢"), .character("🙂"), .enter, .newline, .backspace, .up,
            .pageUp, .home, .newline, .control("f"), .paste("x\ny"), .character("z"),
        ]
        for cut in bytes.indices where cut == 0 || bytes[cut - 1] != 0x1B {
            var parser = KeyParser()
            #expect(parser.keys(in: bytes[..<cut]) + parser.keys(in: bytes[cut...]) == expected, "cut at \(cut)")
        }
        var parser = KeyParser()
        #expect(parser.keys(in: [0x1B]) == [.escape])
    }

    @Test func `a paste without end is bounded, and damaged input crashes nothing`() {
        var parser = KeyParser()
        _ = parser.keys(in: Array("\u{1B}[200~".utf8))
        for _ in 0..<50 { #expect(parser.keys(in: [UInt8](repeating: 0x61, count: 10_000)).isEmpty) }
        let keys = parser.keys(in: Array("end\u{1B}[201~".utf8))
        guard case .paste(let text)? = keys.first else { return #expect(Bool(false), "no paste: \(keys.count)") }
        #expect(text.utf8.count <= KeyParser.pasteLimit)
        let valid = ["a\u{1B}[200~paste\u{1B}[201~", "\u{1B}[1;5A\u{1B}OF", "漢字🙂"].map { Array($0.utf8) }
        neverCrash(on: valid) { bytes in
            var parser = KeyParser()
            _ = parser.keys(in: bytes)
        }
    }

    // MARK: Editor

    @Test func `a line is edited at the cursor, within its limit`() {
        var editor = LineEditor(byteLimit: 12)
        for key in "hello big".map(Key.character) { _ = editor.apply(key) }
        _ = editor.apply(.control("w"))
        #expect(editor.text == "hello ")
        for key: Key in [.home, .delete, .character("H"), .end, .paste("漢字")] { _ = editor.apply(key) }
        #expect(editor.text == "Hello 漢字")
        #expect(editor.apply(.character("x")) && editor.text == "Hello 漢字")
        for key: Key in [.left, .backspace, .control("k"), .left] { _ = editor.apply(key) }
        #expect(editor.text == "Hello " && editor.cursor == 5)
        #expect(editor.take() == "Hello " && editor.text.isEmpty && editor.cursor == 0)
        let isEdit = editor.apply(.enter)
        #expect(!isEdit)
    }

    // MARK: Screen

    private static func thought(_ number: UInt64, _ text: String, isOwn: Bool = false, state: String = "stored") throws
        -> ThoughtReport
    {
        let json = """
            {"event":"thought","number":\(number),"thoughtId":"t\(number)","conversationId":"p","creatorId":"c",
            "creator":"Bob","own":\(isOwn),"mediaType":"say","createdAt":\(1_796_000_000_000 + number * 1_000),"holders":0,
            "text":\(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))
            \(isOwn ? ",\"state\":\"\(state)\"" : "")}
            """
        return try JSONDecoder().decode(ThoughtReport.self, from: Data(json.utf8))
    }

    private static func image(_ number: UInt64, _ name: String) throws -> ThoughtReport {
        let json = """
            {"event":"thought","number":\(number),"thoughtId":"t\(number)","conversationId":"p","creatorId":"c",
            "creator":"Bob","own":false,"mediaType":"image","createdAt":1796000000000,"holders":0,"byteCount":34816,"contentType":"image/png",
            "fileName":\(String(decoding: try JSONEncoder().encode(name), as: UTF8.self))}
            """
        return try JSONDecoder().decode(ThoughtReport.self, from: Data(json.utf8))
    }

    private static func screen(_ thoughts: [ThoughtReport], columns: Int = 40, lines: Int = 10) throws -> ChatScreen {
        let json = """
            {"personId":"p","name":"Bob\\u001b[2J","trust":"trusted","safetyNumber":"1","verified":true,
            "devices":[{"peerId":"d","connected":true,"sendingKeys":7,"low":true}]}
            """
        let person = try JSONDecoder().decode(PersonReport.self, from: Data(json.utf8))
        return ChatScreen(ThoughtsReport(person: person, thoughts: thoughts.reversed()), columns: columns, lines: lines)
    }

    /// A stream of Ada, in which this device's person takes `participation`.
    private static func stream(_ participation: String, posting: String = "members") throws -> StreamReport {
        let members = ["Bob", "Eve"].map { name in
            "{\"personId\":\"\(name)\",\"name\":\"\(name)\",\"joined\":true,\"trust\":\"trusted\"}"
        }
        let json = """
            {"streamId":"s","name":"Trip\\u001b[2J","creatorId":"a","creator":"Ada","own":false,"posting":"\(posting)",
            "innerCircle":false,"participation":"\(participation)",
            "members":[\(posting == "members" ? members.joined(separator: ",") : "")]}
            """
        return try JSONDecoder().decode(StreamReport.self, from: Data(json.utf8))
    }

    private static func screen(_ stream: StreamReport, _ thoughts: [ThoughtReport] = []) -> ChatScreen {
        ChatScreen(ThoughtsReport(stream: stream, thoughts: thoughts.reversed()), columns: 80, lines: 10)
    }

    private static func circle(_ stream: StreamReport) -> CircleReport {
        CircleReport(
            personId: "c",
            name: "Carol",
            blurb: nil,
            did: nil,
            handle: nil,
            card: nil,
            people: [],
            streams: [stream],
            devices: [],
            homes: [],
            blocked: []
        )
    }

    private static func plain(_ drawing: ChatScreen.Drawing) -> [String] {
        drawing.lines.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") }
    }

    @Test func `no window is too small or too large, and what a person writes cannot steer the terminal`() throws {
        let texts = ["short", String(repeating: "long words and 漢字 ", count: 30), "\u{1B}[2J\u{202E}\u{7}", "a\nb", ""]
        let thoughts = try texts.enumerated().map { try Self.thought(UInt64($0.offset + 1), $0.element) }
        for (columns, lines) in [(0, 0), (1, 1), (19, 3), (20, 4), (21, 5), (40, 10), (80, 24), (500, 200)] {
            var screen = try Self.screen(thoughts, columns: columns, lines: lines)
            for key: Key in [.pageUp, .up, .paste(texts[1]), .left, .control("f"), .character("x"), .escape, .down] {
                _ = screen.handle(.key(key))
                let drawing = screen.draw()
                #expect(drawing.lines.count == max(1, lines))
                for line in Self.plain(drawing) {
                    #expect(TextColumns.count(of: line) <= max(1, columns), "\(columns)x\(lines): \(line)")
                    #expect(!line.contains("\u{1B}") && !line.contains("\u{202E}") && !line.contains("\u{7}"))
                }
                #expect(drawing.column <= max(1, columns) && drawing.row <= max(1, lines))
            }
        }
    }

    @Test func `a thought is sent, replaced by its new state, and comes back when it was not sent`() throws {
        var screen = try Self.screen([])
        #expect(screen.handle(.key(.paste("hi"))).isEmpty)
        #expect(screen.handle(.key(.enter)) == [.send("hi")])
        #expect(screen.handle(.key(.enter)).isEmpty)
        _ = screen.handle(.thought(try Self.thought(1, "hi", isOwn: true)))
        #expect(Self.plain(screen.draw()).contains { $0.contains("you  (stored with 0)") })
        _ = screen.handle(.thought(try Self.thought(1, "hi", isOwn: true)))
        #expect(screen.thoughts.count == 1)
        // Its delivery may be reported before the answer to its sending.
        _ = screen.handle(.thought(try Self.thought(2, "quick", isOwn: true, state: "opened")))
        _ = screen.handle(.said(try Self.thought(2, "quick", isOwn: true, state: "waiting")))
        #expect(Self.plain(screen.draw()).contains { $0.contains("you  (opened)") })
        _ = screen.handle(.said(try Self.thought(3, "late", isOwn: true, state: "waiting")))
        #expect(screen.thoughts.map(\.number) == [1, 2, 3])
        _ = screen.handle(.notSent("again", why: "no keys"))
        #expect(screen.editor.text == "again")
        #expect(Self.plain(screen.draw()).contains("! no keys"))
        #expect(screen.handle(.key(.control("d"))).isEmpty)
        #expect(screen.handle(.key(.control("c"))) == [.end])
    }

    @Test func `an image shows as its name and size, and the name cannot steer the terminal`() throws {
        let images = [try Self.image(1, "holiday.png"), try Self.image(2, "\u{1B}[2J\u{202E}gnp.exe")]
        let lines = Self.plain(try Self.screen(images, columns: 80).draw())
        #expect(lines.contains("      [image holiday.png, 34.0 KiB]"), "\(lines)")
        #expect(lines.contains { $0.contains("gnp.exe, 34.0 KiB]") }, "\(lines)")
        #expect(!lines.contains { $0.contains("\u{1B}") || $0.contains("\u{202E}") })
    }

    @Test func `a line that names a file sends the file, and comes back when it was not sent`() throws {
        var screen = try Self.screen([])
        _ = screen.handle(.key(.paste("/send  holiday 1.png ")))
        #expect(screen.handle(.key(.enter)) == [.sendFile("holiday 1.png")])
        #expect(screen.editor.text.isEmpty)
        _ = screen.handle(.notSent("/send holiday 1.png", why: "it is too large"))
        #expect(screen.editor.text == "/send holiday 1.png")
        for key: Key in [.control("u"), .paste("/send  ")] { _ = screen.handle(.key(key)) }
        #expect(screen.handle(.key(.enter)).isEmpty)
        #expect(Self.plain(screen.draw()).contains("! write the path of a file after /send"))
        for key: Key in [.control("u"), .paste("/send a\nb")] { _ = screen.handle(.key(key)) }
        #expect(screen.handle(.key(.enter)) == [.send("/send a\nb")])
    }

    @Test func `thoughts of the person are noted as seen once, and older ones come when they are scrolled to`() throws {
        var screen = try Self.screen(try (11...30).map { try Self.thought($0, "t\($0)") })
        #expect(screen.start() == [.noteOpened(from: 11, to: 30)])
        #expect(screen.handle(.thought(try Self.thought(31, "new"))) == [.noteOpened(from: 31, to: 31)])
        #expect(screen.handle(.thought(try Self.thought(31, "new"))).isEmpty)
        // A thought older than those on the screen arrives with its page.
        #expect(screen.handle(.thought(try Self.thought(3, "old"))).isEmpty && screen.thoughts.first?.number == 11)
        var effects: [ChatScreen.Effect] = []
        while effects.isEmpty { effects = screen.handle(.key(.pageUp)) }
        #expect(effects == [.loadOlder(before: 11)])
        #expect(screen.handle(.key(.pageUp)).isEmpty)
        _ = screen.handle(.older(try (1...10).reversed().map { try Self.thought($0, "t\($0)") }))
        #expect(screen.thoughts.map(\.number) == Array(1...31))
        while screen.handle(.key(.pageUp)) != [.loadOlder(before: 1)] {}
        _ = screen.handle(.older([]))
        for _ in 0..<3 { #expect(screen.handle(.key(.pageUp)).isEmpty) }
        #expect(Self.plain(screen.draw()).contains { $0.hasSuffix("t1") })
    }

    @Test func `a search shows what was found until it is left`() throws {
        var screen = try Self.screen(try (1...3).map { try Self.thought($0, "t\($0)") })
        _ = screen.handle(.key(.control("f")))
        #expect(screen.handle(.key(.enter)).isEmpty)
        for key in "t2".map(Key.character) { _ = screen.handle(.key(key)) }
        #expect(screen.handle(.key(.enter)) == [.search("t2")])
        _ = screen.handle(.found([try Self.thought(2, "t2")]))
        let found = Self.plain(screen.draw())
        #expect(found.contains("1 found; Esc returns") && found.contains("      t2") && !found.contains("      t3"))
        _ = screen.handle(.key(.escape))
        #expect(Self.plain(screen.draw()).contains("      t3"))
    }

    // MARK: Streams

    @Test func `a stream shows its members, and each thought its creator`() throws {
        let thoughts = [try Self.thought(1, "by boat"), try Self.thought(2, "at eight", isOwn: true)]
        var screen = Self.screen(try Self.stream("joined"), thoughts)
        let lines = Self.plain(screen.draw())
        #expect(lines[0].contains("Trip") && lines[0].contains("3 members"), "\(lines)")
        #expect(!lines[0].contains("\u{1B}"))
        #expect(lines.contains { $0.hasSuffix(" Bob") } && lines.contains { $0.contains("you  (stored with 0)") })
        _ = screen.handle(.key(.paste("hi")))
        #expect(screen.handle(.key(.enter)) == [.send("hi")])
    }

    @Test func `a stream that does not take a text says so, and keeps the text`() throws {
        for (stream, hint) in [
            (try Self.stream("invited"), "runar circle stream join"),
            (try Self.stream("left"), "for an invitation"),
            (try Self.stream("joined", posting: "creator"), "only Ada writes"),
        ] {
            var screen = Self.screen(stream)
            for text in ["hi", "/send a.png"] {
                for key: Key in [.control("u"), .paste(text)] { _ = screen.handle(.key(key)) }
                #expect(screen.handle(.key(.enter)).isEmpty)
                #expect(screen.editor.text == text)
                #expect(Self.plain(screen.draw()).contains { $0.hasPrefix("! ") && $0.contains(hint) }, "\(hint)")
            }
        }
        var screen = Self.screen(try Self.stream("invited"))
        _ = screen.handle(.circle(Self.circle(try Self.stream("joined"))))
        _ = screen.handle(.key(.paste("hi")))
        #expect(screen.handle(.key(.enter)) == [.send("hi")])
    }
}
