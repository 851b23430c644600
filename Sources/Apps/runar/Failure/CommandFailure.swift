/// Why a command did not do what was asked: a word for scripts, a sentence for people, and the exit status.
struct CommandFailure: Error, Hashable, Sendable {
    /// A stable word for scripts, such as `wrong-passphrase`.
    let code: String
    /// What happened and what to do next.
    let message: String
    /// With what the process ends.
    let status: ExitStatus

    init(_ code: String, _ status: ExitStatus, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    /// The failure with the home that the person named in the commands that it advises.
    var withHome: CommandFailure { CommandFailure(code, status, HomeHint.repeated(in: message)) }

    /// The same with more advice.
    func adding(_ advice: String) -> CommandFailure { CommandFailure(code, status, "\(message); \(advice)") }
}

extension CommandFailure: Codable {
    private enum CodingKeys: String, CodingKey {
        case code
        case message
        case status = "exitCode"
    }
}

extension CommandFailure: CustomStringConvertible {
    var description: String { message }
}

/// The one object that a failing command prints with `--json`.
struct FailureReport: Codable {
    let error: CommandFailure
}
