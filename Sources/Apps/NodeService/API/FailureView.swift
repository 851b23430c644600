internal import Console

/// A failure as the API writes it, within the member `error`.
struct FailureView: Codable, Hashable, Sendable {
    package let code: String
    package let message: String
    let context: [String: String]
    /// What a command that says this ends with; nil when nobody but a program can have asked for it.
    var exitCode: ExitStatus?

    init(_ failure: ConsoleFailure) {
        code = failure.code
        message = failure.message
        context = failure.context
        exitCode = failure.exitCode.flatMap(ExitStatus.init)
    }

    /// What the command says.
    var commandFailure: CommandFailure { CommandFailure(code, exitCode ?? .software, message) }
}

/// The body of an answer that is a failure.
struct FailureAnswer: Codable {
    package let error: FailureView
}
