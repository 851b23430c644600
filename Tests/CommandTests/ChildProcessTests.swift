internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import CommandKit
@testable internal import runar

@Suite("Commands of services", .timeLimit(.minutes(15))) struct ChildProcessTests {
    private func shell(_ command: String, limit: Int = 1 << 20) throws -> ChildProcess {
        try ChildProcess("/bin/sh", ["-c", command], sink: .bytes(limit: limit, errors: 2))
    }

    /// A process number that a command has printed.
    private func number(_ line: String?) throws -> Int32 { try #require(line.flatMap { Int32($0) }) }

    @Test func `a command that is ended leaves nothing behind that it started`() async throws {
        // The shell starts a program of its own, which holds on to the output.
        let child = try ChildProcess("/bin/sh", ["-c", "sleep 600 & echo $!; wait"], sink: .lines(errors: 2))
        var lines = child.lines.makeAsyncIterator()
        _ = try number(await lines.next())
        await child.end(killingAfter: .seconds(60)).waitIgnoringCancellation()
        #expect(kill(-child.id, 0) == -1, "a process of the group is left")
        #expect(await lines.next() == nil)
        #expect(try await child.waitForExit() == -15)
    }

    @Test func `a command that reads its input to the end gets all of it`() async throws {
        let child = try ChildProcess("/bin/cat", [], input: Array("five".utf8), sink: .bytes(limit: 100, errors: 2))
        #expect(try await child.output() == .bytes(Array("five".utf8)))
        #expect(try await child.waitForExit() == 0)
    }

    @Test func `a command that ignores the request to end is killed with what it started`() async throws {
        let command = "trap '' TERM; sleep 600 & echo up; while :; do sleep 600; done"
        let child = try ChildProcess("/bin/sh", ["-c", command], sink: .lines(errors: 2))
        var lines = child.lines.makeAsyncIterator()
        #expect(await lines.next() == "up")
        await child.end(killingAfter: .zero).waitIgnoringCancellation()
        #expect(kill(-child.id, 0) == -1, "a process of the group is left")
        #expect(try await child.waitForExit() == -9)
    }

    @Test func `the output ends with the command, whatever it has left in the background`() async throws {
        let child = try shell("printf begun; sleep 600 & echo $!")
        let printed = try await child.output()
        guard case .bytes(let output) = printed else {
            Issue.record("\(printed)")
            return
        }
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.hasPrefix("begun"))
        let background = try number(text.dropFirst("begun".count).trimmingCharacters(in: .newlines))
        #expect(try await child.waitForExit() == 0)
        #expect(kill(background, SIGKILL) == 0, "it goes on")
    }

    @Test func `a command may print as much as the limit, and not a byte more`() async throws {
        let whole = try shell("head -c 200000 /dev/zero", limit: 200_000)
        #expect(try await whole.output() == .bytes([UInt8](repeating: 0, count: 200_000)))
        let more = try shell("head -c 200001 /dev/zero", limit: 200_000)
        #expect(try await more.output() == .tooMuch)
        // Without an end of a line, and without an end.
        let endless = try shell("cat /dev/zero", limit: 200_000)
        #expect(try await endless.output() == .tooMuch)
        #expect(try await endless.waitForExit() != 0)
    }

    @Test func `lines are the same however the output arrives`() async throws {
        let child = try ChildProcess(
            "/bin/sh",
            ["-c", "printf 'a\\n\\nb'; printf 'c\\n'; head -c 100000 /dev/zero | tr '\\0' x; printf '\\nlast'"],
            sink: .lines(errors: 2)
        )
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(lines == ["a", "", "bc", String(repeating: "x", count: 100_000), "last"])
    }

    @Test(arguments: [
        ("{\"a\": 1}\n", "{\"a\": 1}"), ("21.5\n", "21.5"), ("\nblank\n\n", "\"\\nblank\\n\""), ("", "\"\""),
        ("ü", "\"ü\""),
    ])
    func `the output of a command is JSON, or a text in JSON`(output: String, result: String) throws {
        let json = try #require(CommandRunner.json(of: Array(output.utf8)))
        #expect(String(decoding: json, as: UTF8.self) == result)
    }

    @Test(arguments: [[0x89, 0x50, 0x4E, 0x47, 0xFF], [0xFE, 0xFF, 0x00, 0x31], [0xC3]] as [[UInt8]])
    func `output that is no UTF-8 text is refused, JSON in another encoding too`(output: [UInt8]) {
        #expect(CommandRunner.json(of: output) == nil)
    }
}
