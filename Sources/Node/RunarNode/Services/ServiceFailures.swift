internal import Node
internal import Services

/// The errors of requests that no handler answers, and those of handlers as callers receive them.
enum ServiceFailures {
    static func noService(_ path: String) -> RunarError {
        .failure(.noService, message: "no reachable peer offers the service", context: path)
    }

    static func noAction(_ path: String) -> RunarError {
        .failure(.noAction, message: "the service has no such action", context: path)
    }

    static func notRunning(_ path: String, state: RunarServiceState) -> RunarError {
        .failure(
            .serviceNotRunning,
            message: "Service is not Running - it is in \(state.title) state",
            context: path
        )
    }

    static func deadline(_ path: String, _ limit: Duration) -> RunarError {
        .failure(.deadline, message: "no answer within \(limit)", context: path)
    }

    /// Returns the error of a handler as the caller sees it.
    static func handler(_ error: any Error, _ path: String) -> RunarError {
        switch error {
        case let error as RunarError: error
        case is CancellationError: .failure(.cancelled, message: "the request was cancelled", context: path)
        default: .failure(.handlerFailed, message: RunarError.text(of: error), context: path)
        }
    }
}

extension RunarServiceState {
    /// Its name as people read it.
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension ServiceFailure {
    /// Creates the failure that the caller receives for a handler's error.
    ///
    /// Its kind is `handler` whatever its number: the caller must not take it for a transport failure and retry.
    init(handler error: any Error, _ path: String) {
        let error = ServiceFailures.handler(error, path)
        self.init(kind: .handler, code: error.code, message: error.message, context: error.context)
    }
}

extension RunarError {
    /// Creates the error of a request to another device.
    init(_ failure: ServiceFailure, _ path: String) {
        let kind: RunarErrorCode =
            switch failure.kind {
            case .noService: .noService
            case .noAction: .noAction
            case .notRunning: .serviceNotRunning
            case .deadline: .deadline
            case .cancelled: .cancelled
            case .busy: .busy
            case .tooLarge: .tooLarge
            case .badRequest: .badPayload
            case .handler: failure.code == 0 ? .handlerFailed : RunarErrorCode(rawValue: failure.code)
            case .unreachable: .unreachable
            case .protocolViolation: .network
            }
        let context = failure.kind == .handler || !failure.context.isEmpty ? failure.context : path
        self = .failure(kind, message: failure.message, context: context)
    }
}
