#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// A terminal emulator without a window.
enum Tmux {
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
    /// The terminal outlives the command that makes it, so it inherits no open file of this process: Foundation takes the
    /// end of such a file for the end of the process. It does not inherit the signals that a worker thread blocks either,
    /// without which a terminal cannot end.
    fileprivate static func run(_ line: String) throws -> Int32 {
        let closing = "for file in /proc/$$/fd/*; do [ ${file##*/} -le 2 ] || eval \"exec ${file##*/}>&-\"; done"
        let arguments = ["--default-signal", "bash", "-c", "\(closing); \(line)"]
        return try ChildProcess(path: "/usr/bin/env", arguments: arguments).waitUntilExit()
    }

    /// Returns the screen of a terminal once the command has ended.
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
        // The output of the command may arrive a little later than the signal of its end.
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

extension Tmux {
    /// A terminal on which a command runs, for as long as this object lives.
    final class Session {
        private let socket: String
        private var tmux: String { "unset NO_COLOR; tmux -u -S '\(socket)'" }

        init(_ arguments: [String], home: String, columns: Int, lines: Int) throws {
            socket = FileManager.default.temporaryDirectory.appending(path: "tmux-\(UUID().uuidString)").path
            let command = [ChildProcess.products.appending(path: "runar").path] + arguments
            let words = command.map { "'\($0)'" }.joined(separator: " ")
            let script = "RUNAR_HOME='\(home)' \(words); echo '\(Tmux.end)'; exec cat"
            let size = "-x \(columns) -y \(lines)"
            try #require(
                try run("\(tmux) -f /dev/null new-session -d \(size) \"\(script)\" >/dev/null 2>&1") == 0
            )
        }

        deinit {
            do {
                _ = try run("\(tmux) kill-server; rm -f '\(socket)' '\(socket).screen' '\(socket).text'")
            } catch {
                print("a terminal is left at \(socket): \(error)")
            }
        }

        /// Types keys by the names of tmux, or with `-l` a text.
        func type(_ keys: String...) throws {
            _ = try run("\(tmux) send-keys \(keys.map { "'\($0)'" }.joined(separator: " "))")
        }

        /// Pastes a text as a terminal does on which pastes are marked.
        func paste(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(socket).text"))
            _ = try run("\(tmux) load-buffer '\(socket).text'; \(tmux) paste-buffer -p")
        }

        func resize(columns: Int, lines: Int) throws {
            _ = try run("\(tmux) resize-window -x \(columns) -y \(lines)")
        }

        /// The lines that the terminal shows once `isWanted`.
        @discardableResult
        func shows(_ what: String, where isWanted: ([String]) -> Bool) throws -> [String] {
            var lines: [String] = []
            for _ in 0..<2_000 {
                _ = try run("\(tmux) capture-pane -p >'\(socket).screen'")
                lines = try String(contentsOfFile: "\(socket).screen", encoding: .utf8).components(separatedBy: "\n")
                if isWanted(lines) { return lines }
            }
            throw Outcome.Unexpected(
                description: "\(what) never came; the terminal shows\n\(lines.joined(separator: "\n"))"
            )
        }

        /// Returns the lines of the terminal with its scrollback.
        func everything() throws -> String {
            _ = try run("\(tmux) capture-pane -p -S - >'\(socket).screen'")
            return try String(contentsOfFile: "\(socket).screen", encoding: .utf8)
        }

        @discardableResult
        func shows(_ text: String) throws -> [String] {
            try shows(text) { lines in lines.contains { $0.contains(text) } }
        }
    }
}
#endif
