internal import Console

/// A failure as the API writes it, within the member `error`.
struct FailureView: Codable, Hashable, Sendable {
    let code: String
    let message: String
    let context: [String: String]
    /// The exit code of a command that reports this; nil if no command sends such a request.
    var exitCode: ExitStatus?

    init(_ failure: ConsoleFailure) {
        code = failure.code
        message = failure.message
        context = failure.context
        exitCode = failure.exitCode.flatMap(ExitStatus.init)
    }

    /// The failure that a command reports.
    var commandFailure: CommandFailure { CommandFailure(code, exitCode ?? .software, message) }
}

/// The body of an answer that is a failure.
struct FailureAnswer: Codable {
    let error: FailureView
}
