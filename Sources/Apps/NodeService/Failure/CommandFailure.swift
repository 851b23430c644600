/// Why a command did not do what was asked: a word for scripts, a sentence for people, and the exit status.
package struct CommandFailure: Error, Hashable, Sendable {
    /// A stable word for scripts, such as `wrong-passphrase`.
    package let code: String
    /// The problem and the next step.
    package let message: String
    /// With what the process ends.
    package let status: ExitStatus

    package init(_ code: String, _ status: ExitStatus, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    /// The code of a wrong passphrase.
    package static let wrongPassphrase = "wrong-passphrase"

    /// Returns the end of a command by a signal, which is no error of the command.
    package static func interrupted(_ message: String) -> CommandFailure {
        CommandFailure("cancelled", .interrupted, message)
    }

    /// Returns the failure with more advice.
    package func adding(_ advice: String) -> CommandFailure { CommandFailure(code, status, "\(message); \(advice)") }
}

extension CommandFailure: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, message
        case status = "exitCode"
    }
}

extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}
