internal import Bytes
internal import Concurrency
internal import Foundation
internal import NodeService
internal import Platform

/// Asks the person at the terminal, whatever standard input is.
enum Prompt {
    private static let terminal = TerminalPrompt()

    /// Whether there is a person to ask.
    static var isPossible: Bool { terminal.isPossible }

    /// Asks for a secret without showing what is typed.
    ///
    /// - Throws: ``CommandFailure``; with `advice` when there is no terminal.
    static func secret(_ question: String, otherwise advice: String) throws(CommandFailure) -> SecretBytes {
        do {
            return try terminal.secret(Terminal.escaped(question))
        } catch {
            throw CommandFailure(prompt: error, otherwise: advice)
        }
    }

    /// Asks for a new passphrase until two answers agree and it is long enough.
    ///
    /// - Throws: ``CommandFailure``; with `advice` when there is no terminal.
    static func newSecret(_ question: String, otherwise advice: String) throws(CommandFailure) -> SecretBytes {
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
    static func accepts(_ question: String, otherwise advice: String) async throws -> Bool {
        try await answer(to: "\(question) (y/n) ", otherwise: advice, reading: Consent.yesOrNo)
    }

    /// Whether the person types `word` after the question, in any case; an empty line repeats the question.
    ///
    /// - Throws: ``CommandFailure``, with `advice` when there is no terminal; `CancellationError`.
    static func confirms(_ question: String, with word: String, otherwise advice: String) async throws -> Bool {
        let question = question.isEmpty ? "" : "\(question) "
        return try await answer(to: "\(question)Type \(word) to go on: ", otherwise: advice) { answer in
            Consent.word(word, in: answer)
        }
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
        Thread {
            outcome.fulfil(
                Result {
                    while true {
                        if let answer = read(try line(question, otherwise: advice)) { return answer }
                    }
                }
            )
        }.start()
        do {
            return try await outcome.get()
        } catch let error as CancellationError {
            Output.note("")
            throw error
        }
    }

    /// Asks for `word` before a step that cannot be undone, and throws unless the person types it.
    ///
    /// - Throws: ``CommandFailure``, `not-confirmed` with `refusal` for another answer; `CancellationError`.
    static func requireConsent(_ question: String, with word: String, otherwise refusal: String) async throws {
        guard try await confirms(question, with: word, otherwise: "use --yes if you are sure") else {
            throw CommandFailure("not-confirmed", .notPermitted, refusal)
        }
    }

    private static func line(_ question: String, otherwise advice: String) throws(CommandFailure) -> String {
        do {
            return try terminal.line(Terminal.escaped(question))
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
        case .interrupted: self.init("cancelled", .tryAgain, "the question was interrupted; nothing was done")
        case .tooLong: self.init("bad-answer", .data, "\(error)")
        case .noAgreement: self.init("passphrases-differ", .data, "the two answers differ; nothing was done, try again")
        case .failed(let error): self.init(file: error)
        }
    }
}
