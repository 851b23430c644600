package import Failures
internal import Platform

/// An error of the connection to a tunnel engine.
package enum UAPIError: Error, Equatable {
    /// No engine accepts connections at the path.
    case unreachable(path: String, reason: String)
    /// This process got no thread for the request; `code` is the error number.
    case noThread(code: Int32)
    /// The engine did not answer within the time limit.
    case timedOut
    /// The engine closed the connection before it answered.
    case closed
    /// The answer does not follow the configuration protocol.
    case malformed
    /// The engine refused the request with an error number.
    case refused(number: Int32, reason: String)
}

extension UAPIError: CodedError, CustomStringConvertible {
    package var failureCode: FailureCode {
        switch self {
        case .unreachable, .noThread: FailureCode("tunnel-engine-unreachable", .unknown, .unavailable)
        case .timedOut, .closed: FailureCode("tunnel-engine-silent", .unknown, .unavailable)
        case .malformed: FailureCode("tunnel-engine-malformed", .unknown, .unavailable)
        case .refused: FailureCode("tunnel-engine-refused", .unknown, .data)
        }
    }

    /// A sentence with the next step.
    package var description: String {
        switch self {
        case .unreachable(let path, let reason):
            "no tunnel engine accepts connections at \(path) (\(reason)); start the tunnel first"
        case .noThread(let code):
            "no thread for a request to the tunnel engine (\(SystemErrors.text(of: code))); end other programs"
        case .timedOut:
            "the tunnel engine did not answer in time, and is replaced if that happens again; else connect again"
        case .closed: "the tunnel engine closed the connection; disconnect and connect again"
        case .malformed:
            "the tunnel engine sent an answer outside the configuration protocol; check that it is a WireGuard engine"
        case .refused(let number, let reason):
            "the tunnel engine refused the configuration (error \(number), \(reason)); check keys and addresses"
        }
    }
}
