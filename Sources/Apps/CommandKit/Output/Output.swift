package import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import Platform

/// The output of commands: results to standard output, everything else to standard error.
///
/// This is the only writer of standard output. Its first failure ends the command, because a lost result must not pass for
/// a written one.
package enum Output {
    private static let standard: Int32 = 1
    private static let errors: Int32 = 2
    /// The code of the one failure without a message: a reader that has seen enough is no mistake.
    fileprivate static let readerGone = "reader-gone"
    /// 128 and the number of SIGPIPE, as shells report the end of other programs then.
    private static let readerGoneStatus: Int32 = 141
    /// The failure of the first write that failed.
    private static let firstFailure = Promise<CommandFailure>()
    /// The reason why nothing reads standard output any longer.
    private static let departure = Promise<CommandFailure>()
    /// Watches the reader from the first use on; a command that waits would notice its end with the next write only.
    private static let watch: Void = {
        Thread {
            guard Posix.waitForDeparture(ofReader: standard) else { return }
            departure.fulfil(CommandFailure(writing: Posix.noReader))
        }.start()
    }()

    package static var isTerminal: Bool { Posix.isTerminal(standard) }
    /// The columns and lines of the terminal for results; nil if it is none or does not report them.
    package static var windowSize: (columns: Int, lines: Int)? { Posix.windowSize(of: standard) }
    package static var errorsAreTerminal: Bool { Posix.isTerminal(errors) }

    /// A line for people; whatever peers put into it cannot steer the terminal.
    package static func line(_ text: String) throws(CommandFailure) { try raw(Terminal.escaped(text) + "\n") }

    /// A line of parts, of which only those marked as ours may carry colours.
    package static func styled(_ parts: [(text: String, isOurs: Bool)]) throws(CommandFailure) {
        try raw(parts.map { $0.isOurs ? $0.text : Terminal.escaped($0.text) }.joined() + "\n")
    }

    /// A line of text that other programs read back, such as a token.
    package static func raw(_ text: String) throws(CommandFailure) { try bytes(Array(text.utf8)) }

    /// Bytes as they are, for another program.
    ///
    /// - Throws: ``CommandFailure``, after a failure without another attempt.
    package static func bytes(_ bytes: [UInt8]) throws(CommandFailure) {
        if let failure = firstFailure.value { throw failure }
        guard let code = Posix.write(bytes, to: standard) else { return }
        let failure = CommandFailure(writing: code)
        firstFailure.fulfil(failure)
        departure.fulfil(failure)
        throw failure
    }

    /// Waits until standard output cannot be written any longer, and throws the reason.
    ///
    /// - Throws: ``CommandFailure``; `CancellationError`.
    package static func waitForDeparture() async throws {
        _ = watch
        throw try await departure.wait()
    }

    /// Ends the process with `status`, or with the failure of standard output if there was one.
    package static func end(_ status: Int32) -> Never {
        guard let failure = firstFailure.value else { exit(status) }
        if failure.code != readerGone { note(failurePrefix + failure.message) }
        exit(exitStatus(of: failure))
    }

    /// A remark, on standard error.
    package static func note(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            _ = Posix.write(Array((Terminal.escaped(line) + "\n").utf8), to: errors)
        }
    }

    /// Replaces the last line of a terminal's standard error.
    package static func status(_ text: String) {
        _ = Posix.write(Array("\r\u{1B}[2K\(Terminal.escaped(text))".utf8), to: errors)
    }

    /// One JSON object on a line of its own; characters that would control a terminal are escaped.
    package static func json(_ value: some Encodable) throws(CommandFailure) {
        try raw(JSONText.shown(JSONText.encode(value)) + "\n")
    }

    /// Returns the exit status of a command that fails like this.
    package static func exitStatus(of failure: CommandFailure) -> Int32 {
        failure.code == readerGone ? readerGoneStatus : failure.status.rawValue
    }

    /// The beginning of the line that a failing command writes.
    package static let failurePrefix = "error: "

    /// Reports the failure of a command; ``end(_:)`` reports that of standard output itself.
    package static func failure(_ failure: CommandFailure, asJSON: Bool) {
        guard firstFailure.value == nil, failure.code != readerGone else { return }
        if asJSON {
            try? json(FailureReport(error: failure.withCompletedAdvice))  // reported when the process ends
        } else {
            note((failure.status == .interrupted ? "" : failurePrefix) + failure.withCompletedAdvice.message)
        }
    }
}

extension Output {
    package static func report(_ report: some Report, asJSON: Bool) throws(CommandFailure) {
        if asJSON {
            try json(report)
        } else {
            let hasHints = report is any HintingReport
            for text in report.lines { try line(hasHints ? Advice.completed(text) : text) }
        }
    }
}

extension CommandFailure {
    /// The failure of a write to standard output with that error code.
    fileprivate init(writing code: Int32) {
        if code == Posix.noReader {
            self.init(Output.readerGone, .inputOutput, "the reader of standard output has gone")
        } else {
            let error = FileError(operation: "write", path: "standard output", code: code)
            self.init("output", .inputOutput, error.description)
        }
    }
}
