#if os(Linux)
internal import Bytes
internal import Foundation
internal import Glibc
@testable internal import Platform
internal import TestSupport
internal import Testing

/// A terminal whose keyboard and screen are in our hands.
private final class PseudoTerminal: Sendable {
    let path: String
    private let main: Int32
    /// Held open, so that the terminal lives between two questions.
    private let other: Int32

    init() throws {
        // What posix_openpt, unlockpt and ptsname do, which Glibc's module hides.
        let unlock: UInt = 0x4004_5431
        let number: UInt = 0x8004_5430
        var isLocked: Int32 = 0
        var index: Int32 = 0
        main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        let unlocked = unsafe ioctl(main, unlock, &isLocked)
        let numbered = unsafe ioctl(main, number, &index)
        try #require(unlocked == 0 && numbered == 0)
        path = "/dev/pts/\(index)"
        other = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(other >= 0)
    }

    deinit {
        _ = close(main)
        _ = close(other)
    }

    var isEchoing: Bool {
        var settings = termios()
        _ = unsafe tcgetattr(other, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        let bytes = [UInt8](text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(main, $0.baseAddress, $0.count) }
    }

    /// Everything on the screen up to and including `text`.
    func screen(until text: String) -> String {
        var shown = ""
        var piece = [UInt8](repeating: 0, count: 256)
        while !shown.contains(text) {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(main, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            shown += String(decoding: piece.prefix(count), as: UTF8.self)
        }
        return shown
    }
}

@Suite("Terminal prompt", .serialized) struct PromptTests {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    private func asking<R: Sendable>(_ body: @escaping @Sendable (TerminalPrompt) throws -> R) -> Task<R, any Error> {
        let prompt = TerminalPrompt(path: terminal.path)
        return Task { @concurrent in try body(prompt) }
    }

    @Test func `a secret is not shown while it is typed, and later typing is`() async throws {
        let answer = asking { try $0.secret("Passphrase: ") }
        _ = terminal.screen(until: "Passphrase: ")
        #expect(!terminal.isEchoing)
        terminal.type("hidden words\n")
        #expect(try await answer.value == secret("hidden words"))
        #expect(terminal.isEchoing)
        terminal.type("seen\n")
        #expect(!terminal.screen(until: "seen").contains("hidden"))
    }

    @Test func `a line that may be seen is seen`() async throws {
        let answer = asking { try $0.line("Name: ") }
        _ = terminal.screen(until: "Name: ")
        terminal.type("Küche\n")
        #expect(try await answer.value == "Küche")
        #expect(terminal.screen(until: "Küche").contains("Küche"))
    }

    @Test func `a new secret is asked twice until both agree`() async throws {
        let answer = asking { try $0.newSecret("New: ", again: "Again: ") }
        for (question, words) in [("New: ", "one"), ("Again: ", "two"), ("New: ", "three"), ("Again: ", "three")] {
            _ = terminal.screen(until: question)
            terminal.type(words + "\n")
        }
        #expect(try await answer.value == secret("three"))
    }

    @Test func `an end of input and an endless answer are refused, and the terminal echoes again`() async throws {
        let none = asking { try $0.secret("Passphrase: ") }
        _ = terminal.screen(until: "Passphrase: ")
        terminal.type("\u{4}")
        await #expect(throws: TerminalPromptError.noAnswer) { try await none.value }
        #expect(terminal.isEchoing)
        let long = asking { try $0.secret("Passphrase: ") }
        _ = terminal.screen(until: "Passphrase: ")
        terminal.type(String(repeating: "a", count: 1_025) + "\n")
        await #expect(throws: TerminalPromptError.tooLong) { try await long.value }
        #expect(terminal.isEchoing)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a process that is interrupted leaves a terminal that echoes`(signal: Int32) throws {
        let process = try ChildProcess("CrashWriter", arguments: ["prompt", terminal.path])
        _ = terminal.screen(until: "Passphrase: ")
        #expect(!terminal.isEchoing)
        process.send(signal)
        #expect(process.signalAtExit() == signal)
        #expect(terminal.isEchoing)
    }
}
#endif
