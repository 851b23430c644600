internal import Foundation
internal import Identity
internal import NodeService
internal import Platform

/// The output of commands: results to standard output, everything else to standard error.
enum Output {
    private static let standard: Int32 = 1
    private static let errors: Int32 = 2

    static var isTerminal: Bool { Posix.isTerminal(standard) }
    /// The columns and lines of the terminal that results go to; nil if it is none or does not say.
    static var windowSize: (columns: Int, lines: Int)? { Posix.windowSize(of: standard) }
    static var errorsAreTerminal: Bool { Posix.isTerminal(errors) }

    /// A line for people; whatever peers put into it cannot steer the terminal.
    static func line(_ text: String) { raw(Terminal.escaped(text) + "\n") }

    /// A line of parts, of which only those marked as ours may carry colours.
    static func styled(_ parts: [(text: String, isOurs: Bool)]) {
        raw(parts.map { $0.isOurs ? $0.text : Terminal.escaped($0.text) }.joined() + "\n")
    }

    /// A line of text that other programs read back, such as a token.
    static func raw(_ text: String) { bytes(Array(text.utf8)) }

    /// Bytes as they are, for another program.
    static func bytes(_ bytes: [UInt8]) {
        // A failure is ignored: without a reader it cannot be reported, and work in progress must end in order.
        _ = Posix.write(bytes, to: standard)
    }

    /// A remark beside the result.
    static func note(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            _ = Posix.write(Array((Terminal.escaped(line) + "\n").utf8), to: errors)
        }
    }

    /// Replaces the last line of a terminal's standard error.
    static func status(_ text: String) {
        _ = Posix.write(Array("\r\u{1B}[2K\(Terminal.escaped(text))".utf8), to: errors)
    }

    /// One JSON object on a line of its own; what would steer a terminal stands in it as an escape.
    static func json(_ value: some Encodable) { raw(JSONText.shown(JSONText.encode(value)) + "\n") }

    /// The beginning of the line that a failing command writes.
    static let failurePrefix = "error: "

    /// Reports the failure of a command.
    static func failure(_ failure: CommandFailure, asJSON: Bool) {
        if asJSON {
            json(FailureReport(error: failure.withHome))
        } else {
            note(failurePrefix + failure.withHome.message)
        }
    }
}

extension Output {
    static func report(_ report: some Report, asJSON: Bool) {
        if asJSON {
            json(report)
        } else {
            let hasHints = report is any HintingReport
            for text in report.lines { line(hasHints ? HomeHint.repeated(in: text) : text) }
        }
    }
}
