internal import CommandModel
internal import HTTPAPI
internal import NodeModel

/// A failure as the API writes it, within the member `error`.
struct FailureView: Codable, Hashable, Sendable {
    let code: String
    let message: String
    let context: [String: String]
    /// The exit code of a command that reports this; nil if no command sends such a request.
    var exitCode: ExitStatus?

    init(_ failure: RouteFailure) {
        code = failure.code
        message = failure.message
        context = failure.context
        exitCode = failure.exitCode.flatMap(ExitStatus.init)
    }

    /// The failure that a command reports, with a refused field in the words of the command line.
    var commandFailure: CommandFailure { CommandFailure(code, exitCode ?? .software, commandMessage) }

    private var commandMessage: String {
        guard let field = context["field"], let name = Self.fieldNames[field], message.hasPrefix("\"\(field)\"") else {
            return message
        }
        return name + message.dropFirst(field.utf8.count + 2)
    }

    /// The fields that commands fill, in the words of the command line.
    static let fieldNames = [
        "text": "the text", "key": "the key", "lifeSeconds": "the lifetime", "timeoutSeconds": "the time limit",
        "expiration": "the expiry time", "topic": "the topic", "path": "the path", "payload": "the payload",
        "version": "the version", "name": "the name of the file", "label": "the label", "limit": "the number",
        "fileName": "the name of the file",
    ]
}

/// The body of an answer that is a failure.
struct FailureAnswer: Codable {
    let error: FailureView
}
