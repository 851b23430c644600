#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Codes on the screen of a real terminal emulator, read back from what it shows.
@Suite(
    "runar qr show on a terminal",
    .aside,
    .serialized,
    .enabled(if: Tmux.isInstalled && IndependentReaders.missing.isEmpty, "tmux, zbar or zxing-cpp is missing")
) struct QRTerminalTests {
    private let text = "https://example.org/a-text-as-long-as-a-link-usually-is"

    @Test(arguments: [(["--dark"], [true]), (["--light"], [false]), ([], [true, false])])
    func `what a terminal shows is read`(arguments: [String], grounds: [Bool]) throws {
        let screen = try Tmux.screen(after: ["qr", "show", text] + arguments, columns: 100, lines: 50)
        let readings = try IndependentReaders.read(grounds.map { .terminal(screen.shown, isDark: $0) })
        for reading in readings { #expect(reading.agrees(on: Array(text.utf8)), "\(reading)\n\(screen.shown)") }
        #expect(!screen.everything.contains("camera"))
    }

    @Test func `a narrow window gets a smaller quiet zone, and one that is too narrow a word about it`() throws {
        // Version 4: 33 modules, 41 columns with the standard's quiet zone.
        for columns in [41, 40, 35] {
            let screen = try Tmux.screen(after: ["qr", "show", text], columns: columns, lines: 50)
            let reading = try #require(try IndependentReaders.read([.terminal(screen.shown, isDark: false)]).first)
            #expect(reading.agrees(on: Array(text.utf8)), "\(columns): \(reading)\n\(screen.shown)")
        }
        let refused = try Tmux.screen(after: ["qr", "show", text], columns: 34, lines: 50).everything
        #expect(refused.contains("35 columns wide") && refused.contains("--format png") && !refused.contains("▄"))
    }

    @Test func `a low window is told of`() throws {
        let screen = try Tmux.screen(after: ["qr", "show", text], columns: 100, lines: 21).everything
        #expect(screen.contains("the code is 21 lines high and this terminal 21"))
    }

    @Test func `a picture is not poured over a terminal`() throws {
        let screen = try Tmux.screen(after: ["qr", "show", text, "--format", "png"], columns: 100, lines: 50).everything
        #expect(screen.contains("--output FILE") && !screen.contains("PNG\r"))
    }
}

/// A terminal emulator without a window.
private enum Tmux {
    struct Screen {
        /// The lines that the command wrote, colours included.
        let shown: String
        /// All lines on one, without colours, those that were wrapped put together.
        let everything: String
    }

    private static let end = "(end)"

    static let isInstalled: Bool = {
        do {
            return try run("tmux -V >/dev/null") == 0
        } catch {
            print("tmux is not asked: \(error)")
            return false
        }
    }()

    /// Runs a line of shell to its end.
    ///
    /// What it starts gets no open file of this process: the terminal outlives the command that makes it, and with the
    /// file by which Foundation notices the end of a process, that end would be the terminal's. Nor does it get the
    /// signals that a worker thread blocks, without which a terminal cannot end.
    private static func run(_ line: String) throws -> Int32 {
        let closing = "for file in /proc/$$/fd/*; do [ ${file##*/} -le 2 ] || eval \"exec ${file##*/}>&-\"; done"
        let arguments = ["--default-signal", "bash", "-c", "\(closing); \(line)"]
        return try ChildProcess(path: "/usr/bin/env", arguments: arguments).waitUntilExit()
    }

    /// What stands on a terminal of that size once the command has ended.
    static func screen(after arguments: [String], columns: Int, lines: Int) throws -> Screen {
        let socket = FileManager.default.temporaryDirectory.appending(path: "tmux-\(UUID().uuidString)").path
        let command = [ChildProcess.products.appending(path: "runar").path] + arguments
        let words = command.map { "'\($0)'" }.joined(separator: " ")
        let tmux = "unset NO_COLOR; tmux -u -S '\(socket)'"
        let script = "\(words); echo '\(end)'; tmux -S '\(socket)' wait-for -S ended; exec cat"
        try #require(
            try run("\(tmux) -f /dev/null new-session -d -x \(columns) -y \(lines) \"\(script)\" >/dev/null 2>&1") == 0
        )
        defer {
            do {
                _ = try run("\(tmux) kill-server; rm -f '\(socket)' '\(socket).screen'")
            } catch {
                print("a terminal is left at \(socket): \(error)")
            }
        }
        _ = try run("\(tmux) wait-for ended")
        // What the command wrote may be read a little later than that it ended.
        for _ in 0..<1_000 {
            _ = try run("\(tmux) capture-pane -p -e -J >'\(socket).screen'")
            let captured = try String(contentsOfFile: "\(socket).screen", encoding: .utf8).components(separatedBy: "\n")
            guard let last = captured.firstIndex(where: { $0.contains(end) }) else { continue }
            let plain = captured[...last].map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
            return Screen(shown: captured[..<last].joined(separator: "\n"), everything: plain.joined(separator: " "))
        }
        throw CocoaError(.fileReadUnknown)
    }
}
#endif
