@_exported public import Failures
internal import Platform

/// Why a command did not do what was asked: a word for scripts, a sentence for people, and the exit status.
package struct CommandFailure: CodedError, Hashable, Sendable {
    /// A stable word for scripts, such as `wrong-passphrase`.
    package let code: String
    /// The problem and the next step.
    package let message: String
    /// With what the process ends.
    package let status: ExitStatus
    /// The status of HTTP; nil if the exit status determines it.
    private var http: Int?

    package init(_ code: String, _ status: ExitStatus, _ message: String, http: Int? = nil) {
        self.code = code
        self.status = status
        self.message = message
        self.http = http == status.httpStatus ? nil : http
    }

    package var failureCode: FailureCode { FailureCode(code, .unknown, status, http: http) }

    /// The code of a wrong passphrase.
    package static let wrongPassphrase = KeychainError.wrongPassphrase(path: "").failureCode.slug

    /// Returns the end of a command by a signal, which is no error of the command.
    package static func interrupted(_ message: String) -> CommandFailure {
        CommandFailure("cancelled", .interrupted, message)
    }

    /// Returns the failure with more advice.
    package func adding(_ advice: String) -> CommandFailure {
        CommandFailure(code, status, "\(message); \(advice)", http: http)
    }
}

extension CommandFailure {
    /// Creates the failure of a command or a request that ended with an error.
    package init(_ error: any Error) {
        switch error {
        case let error as any CodedError:
            let code = error.failureCode
            self.init(code.slug, code.exitStatus, Self.message(of: error), http: code.httpStatus)
        case is CancellationError: self.init("cancelled", .tryAgain, "the command was cancelled before it was done")
        default: self.init("internal", .software, "unexpected: \(error)")
        }
    }

    private static func message(of error: any CodedError) -> String {
        guard let error = error as? any TimedError else { return error.commandMessage }
        return error.commandMessage { "\(LocalTime(seconds: $0))" }
    }
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
