package import Bytes
internal import Concurrency

/// Asks the user at the controlling terminal, independently of standard input and output.
///
/// The terminal does not echo a secret while it is typed. The echo is restored when the question is answered, fails, or the
/// process is interrupted or stopped from the keyboard.
package struct TerminalPrompt: Sendable {
    /// The longest answer, in bytes.
    package static let answerBytes = 1024

    private static let oneAtATime = Locked<Void>(())

    private let path: String

    /// Asks at the terminal that the process belongs to, or at another one.
    package init(path: String = "/dev/tty") {
        self.path = path
    }

    /// Whether there is a terminal to ask at.
    package var isPossible: Bool {
        do throws(TerminalPromptError) {
            _ = try TerminalDevice(path: path)
            return true
        } catch {
            return false
        }
    }

    /// Asks for a secret without showing it, and returns the line without its end.
    ///
    /// - Throws: ``TerminalPromptError``.
    package func secret(_ question: String) throws(TerminalPromptError) -> SecretBytes {
        var answer = try ask(question, isHidden: true)
        return SecretBytes(consuming: &answer)
    }

    /// Asks for a new secret twice, until both answers agree, at most three times.
    ///
    /// - Throws: ``TerminalPromptError``; `noAgreement` after the third time.
    package func newSecret(_ question: String, again: String) throws(TerminalPromptError) -> SecretBytes {
        for attempt in 0..<3 {
            let first = try secret(attempt == 0 ? question : "The two answers differ. \(question)")
            guard try secret(again) == first else { continue }
            return first
        }
        throw .noAgreement
    }

    /// Asks for a line that may be seen, and returns it without its end.
    ///
    /// The terminal gets the bytes `closing` after the answer, and before a signal ends or stops the process. Another
    /// thread ends the question with `end`.
    ///
    /// - Throws: ``TerminalPromptError``.
    package func line(
        _ question: String,
        closing: String = "",
        until end: QuestionEnd? = nil
    ) throws(TerminalPromptError) -> String {
        let answer = try ask(question, isHidden: false, closing: closing, until: end)
        return String(decoding: answer, as: UTF8.self)
    }

    private func ask(
        _ question: String,
        isHidden: Bool,
        closing: String = "",
        until end: QuestionEnd? = nil
    ) throws(TerminalPromptError) -> [UInt8] {
        try Self.oneAtATime.withLock { _ throws(TerminalPromptError) in
            while true {
                let terminal = try TerminalDevice(path: path)
                let limit = Self.answerBytes
                switch try terminal.ask(question, isHidden: isHidden, limit: limit, closing: closing, until: end) {
                case .answer(let bytes):
                    return bytes
                case .ended: throw .ended
                case .signal(let number):
                    // The terminal is restored; now deliver the signal.
                    SystemProcess.raise(number)
                    guard SystemProcess.isStopSignal(number) else { throw .interrupted }
                }
            }
        }
    }
}

/// Why a question was not answered.
package enum TerminalPromptError: Error, Hashable, Sendable {
    /// The process has no terminal.
    case noTerminal
    /// The person ended the input without an answer.
    case noAnswer
    /// The answer is longer than ``TerminalPrompt/answerBytes``.
    case tooLong
    /// The two answers differed three times.
    case noAgreement
    /// A signal interrupted the question.
    case interrupted
    /// The program ended the question.
    case ended
    /// The terminal failed.
    case failed(FileError)
}

extension TerminalPromptError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noTerminal: "there is no terminal to ask at: run this in one, or choose a key file"
        case .noAnswer: "no answer was given"
        case .tooLong: "the answer is longer than \(TerminalPrompt.answerBytes) bytes"
        case .noAgreement: "the two answers differ: try again"
        case .interrupted: "interrupted"
        case .ended: "the question has ended"
        case .failed(let error): error.description
        }
    }
}

/// The outcome of a question.
enum TerminalAnswer {
    /// The line without its end.
    case answer([UInt8])
    /// A signal, while the terminal was set up for the question.
    case signal(Int32)
    /// The end by ``QuestionEnd``.
    case ended
}
