/// How requests fail before anybody answers.
enum ServiceFailures {
    static func noService(_ path: String) -> RunarError {
        .failure(.noService, message: "nobody who can be asked offers the service", context: path)
    }

    static func noAction(_ path: String) -> RunarError {
        .failure(.noAction, message: "the service has no such action", context: path)
    }

    static func notRunning(_ path: String, state: RunarServiceState) -> RunarError {
        .failure(
            .serviceNotRunning,
            message: "Service is not Running - it is in \(state.rawValue.capitalizedFirst) state",
            context: path
        )
    }

    static func deadline(_ path: String, _ limit: Duration) -> RunarError {
        .failure(.deadline, message: "no answer within \(limit)", context: path)
    }

    /// What a handler threw, as whoever asked sees it.
    static func handler(_ error: any Error, _ path: String) -> RunarError {
        switch error {
        case let error as RunarError: error
        case is CancellationError: .failure(.cancelled, message: "the request was cancelled", context: path)
        default: .failure(.handlerFailed, message: RunarError.text(of: error), context: path)
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}
