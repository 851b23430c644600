package import Bytes
package import CommandModel
internal import Concurrency
internal import Foundation
internal import Platform

/// Asks the person at the terminal, whatever standard input is.
package enum Prompt {
    private static let terminal = TerminalPrompt()

    /// Whether there is a person to ask.
    package static var isPossible: Bool { terminal.isPossible }

    /// Asks for a secret without an echo.
    ///
    /// - Throws: ``CommandFailure``; with `advice` when there is no terminal.
    package static func secret(_ question: String, otherwise advice: String) throws(CommandFailure) -> SecretBytes {
        do {
            return try terminal.secret(Terminal.escaped(question))
        } catch {
            throw CommandFailure(prompt: error, otherwise: advice)
        }
    }

    /// The tries of a person with a passphrase.
    private static let tries = 3

    /// Asks for a secret until `open` accepts it, at most three times, and returns its result.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal; any error of `open` besides that of a wrong
    ///   passphrase, and that one after the third try.
    package static func secret<Opened>(
        _ question: String,
        otherwise advice: String,
        opening open: (SecretBytes) async throws -> Opened
    ) async throws -> Opened {
        var left = tries
        while true {
            let answer = try secret(question, otherwise: advice)
            left -= 1
            do {
                return try await open(answer)
            } catch  where left > 0 && CommandFailure(error).code == CommandFailure.wrongPassphrase {
                Output.note("Wrong passphrase, \(left) more \(left == 1 ? "try" : "tries").")
            }
        }
    }

    /// Shows lines of this program on the terminal's alternate screen, which has no scrollback, until Return.
    ///
    /// The lines leave the screen before a signal ends or stops the process, too. They must contain nothing of a peer.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal.
    package static func showPrivately(_ lines: [String], otherwise advice: String) throws(CommandFailure) {
        // A terminal without an alternate screen ignores that sequence; the words are cleared on its screen as well.
        let clear = "\u{1B}[H\u{1B}[2J"
        let (begin, end) = isPlain ? ("", "") : ("\u{1B}[?1049h\(clear)", "\(clear)\u{1B}[?1049l")
        do {
            _ = try terminal.line(begin + lines.joined(separator: "\n"), closing: end)
        } catch {
            throw CommandFailure(prompt: error, otherwise: advice)
        }
    }

    /// Whether the terminal understands no control sequences.
    private static var isPlain: Bool { SystemProcess.environment("TERM") == "dumb" }

    /// Asks for a new passphrase until two answers agree and it is long enough.
    ///
    /// - Throws: ``CommandFailure``; with `advice` when there is no terminal.
    package static func newSecret(_ question: String, otherwise advice: String) throws(CommandFailure) -> SecretBytes {
        do {
            var prefix = ""
            while true {
                let secret = try terminal.newSecret("\(prefix)\(Terminal.escaped(question)): ", again: "repeat it: ")
                if NewPassphrase.isLongEnough(secret) { return secret }
                prefix = "It needs at least \(NewPassphrase.fewestCharacters) characters. "
            }
        } catch {
            throw CommandFailure(prompt: error, otherwise: advice)
        }
    }

    /// Whether the person answers a question with yes; it is repeated until the answer is a yes or a no.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal; `CancellationError`.
    package static func accepts(_ question: String, otherwise advice: String) async throws -> Bool {
        try await answer(to: "\(question) (y/n) ", otherwise: advice, reading: Consent.yesOrNo)
    }

    /// Whether the person types `word` after the question, in any case; an empty line repeats the question.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal; `CancellationError`.
    package static func confirms(_ question: String, with word: String, otherwise advice: String) async throws -> Bool {
        let question = question.isEmpty ? "" : "\(question) "
        return try await answer(to: "\(question)Type \(word) to go on: ", otherwise: advice) { answer in
            Consent.word(word, in: answer)
        }
    }

    /// Asks for a line of text.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal.
    package static func text(_ question: String, otherwise advice: String) throws(CommandFailure) -> String {
        try line(question, otherwise: advice, until: QuestionEnd())
    }

    /// Repeats a question until `read` understands the answer.
    ///
    /// A thread of its own waits, so that a node in this process continues; a cancelled caller waits no longer, and the
    /// line of the question ends.
    private static func answer(
        to question: String,
        otherwise advice: String,
        reading read: @escaping @Sendable (String) -> Bool?
    ) async throws -> Bool {
        try Task.checkCancellation()
        let outcome = Promise<Result<Bool, any Error>>()
        let end = QuestionEnd()
        Thread {
            outcome.fulfil(
                Result {
                    while true {
                        if let answer = read(try line(question, otherwise: advice, until: end)) { return answer }
                    }
                }
            )
        }.start()
        do {
            return try await outcome.get()
        } catch let error as CancellationError {
            end.reach()
            Output.note("")
            throw error
        }
    }

    /// Asks for `word` before a step that cannot be undone, and throws unless the person types it.
    ///
    /// - Throws: ``CommandFailure``, `not-confirmed` with `refusal` for another answer; `CancellationError`.
    package static func requireConsent(_ question: String, with word: String, otherwise refusal: String) async throws {
        guard try await confirms(question, with: word, otherwise: "use --yes if you are sure") else {
            throw CommandFailure("not-confirmed", .notPermitted, refusal)
        }
    }

    private static func line(
        _ question: String,
        otherwise advice: String,
        until end: QuestionEnd
    ) throws(CommandFailure) -> String {
        do {
            return try terminal.line(Terminal.escaped(question), until: end)
        } catch {
            throw CommandFailure(prompt: error, otherwise: advice)
        }
    }
}

extension CommandFailure {
    /// Creates the failure of a question that was not answered, with advice if there is no terminal.
    fileprivate init(prompt error: TerminalPromptError, otherwise advice: String) {
        switch error {
        case .noTerminal:
            self.init("no-terminal", .notPermitted, "this asks a person, and there is no terminal: \(advice)")
        case .noAnswer: self.init("no-answer", .notPermitted, "no answer was given; nothing was done")
        case .interrupted, .ended: self = .interrupted("the question was interrupted; nothing was done")
        case .tooLong: self.init("bad-answer", .data, "\(error)")
        case .noAgreement: self.init("passphrases-differ", .data, "the two answers differ; nothing was done, try again")
        case .failed(let error): self.init(error)
        }
    }
}
