#if os(Linux)
internal import Bytes
internal import Foundation
internal import Glibc
@testable internal import Platform
internal import TestSupport
internal import Testing

@Suite("Terminal prompt", .serialized) struct PromptTests {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    /// Asks on a thread of its own, since both the question and the look at the screen wait.
    private func asking<R: Sendable>(_ body: @escaping @Sendable (TerminalPrompt) throws -> R) -> Answer<R> {
        let prompt = TerminalPrompt(path: terminal.path)
        let (results, continuation) = AsyncStream.makeStream(of: Result<R, any Error>.self)
        Thread {
            continuation.yield(Result { try body(prompt) })
            continuation.finish()
        }.start()
        return Answer(results: results)
    }

    private struct Answer<R: Sendable> {
        let results: AsyncStream<Result<R, any Error>>

        var value: R {
            get async throws {
                for await result in results { return try result.get() }
                throw CancellationError()
            }
        }
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

    @Test func `another thread ends a question, and one that has ended is not asked`() async throws {
        let end = QuestionEnd()
        let answer = asking { try $0.line("Sure? ", closing: "(gone)", until: end) }
        _ = terminal.screen(until: "Sure? ")
        end.reach()
        await #expect(throws: TerminalPromptError.ended) { try await answer.value }
        #expect(terminal.screen(until: "(gone)") == "(gone)")
        let later = asking { try $0.line("Really? ", until: end) }
        await #expect(throws: TerminalPromptError.ended) { try await later.value }
        // The terminal serves the next question.
        let next = asking { try $0.line("Name: ") }
        #expect(terminal.screen(until: "Name: ") == "Name: ")
        terminal.type("Ada\n")
        #expect(try await next.value == "Ada")
    }

    @Test func `what was typed before the question is no answer`() async throws {
        terminal.type("yes\n")
        _ = terminal.screen(until: "yes")
        let answer = asking { try $0.line("Sure? ") }
        _ = terminal.screen(until: "Sure? ")
        terminal.type("no\n")
        #expect(try await answer.value == "no")
    }

    @Test func `a new secret is asked twice until both agree`() async throws {
        let answer = asking { try $0.newSecret("New: ", again: "Again: ") }
        let dialogue = [("New: ", "one"), ("Again: ", "two"), ("differ. New: ", "three"), ("Again: ", "three")]
        for (question, words) in dialogue {
            #expect(terminal.screen(until: question).hasSuffix(question))
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
