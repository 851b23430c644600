package import CommandModel
package import HTTPAPI

extension RouteFailure {
    /// Creates the failure that a command would report, with the matching status of HTTP.
    package init(_ failure: CommandFailure) {
        self.init(failure.failureCode.httpStatus, failure.code, failure.message, exitCode: failure.status.rawValue)
    }

    /// Creates the answer to a client of which nothing is known.
    ///
    /// The message of a failure with status 500 is a fixed sentence, with or without a code: it would describe the server,
    /// such as the paths of its files. A server that logs those reads the error itself.
    package init(answering error: any Error) {
        switch error {
        case let failure as RouteFailure: self = failure
        case is any CodedError, is CancellationError:
            self.init(CommandFailure(error))
            if status == 500 { message = Self.internalMessage }
        default: self.init(500, "internal", Self.internalMessage, exitCode: ExitStatus.software.rawValue)
        }
    }

    private static let internalMessage = "the server failed: try again later, and contact its operator if that fails"
}

extension RouteFailure: SchemaProviding {
    /// The schema of ``json``.
    package static var schema: JSONSchema {
        let error = ObjectSchema(
            name: "Failure",
            fields: [
                ObjectSchema.Field(name: "code", schema: .string),
                ObjectSchema.Field(name: "message", schema: .string),
                ObjectSchema.Field(name: "context", schema: .map(.string)),
                ObjectSchema.Field(name: "exitCode", schema: .integer(minimum: 0, maximum: 255), isRequired: false),
            ]
        )
        return .object(
            ObjectSchema(name: "FailureAnswer", fields: [ObjectSchema.Field(name: "error", schema: .object(error))])
        )
    }
}
