package import Failures
internal import Identity
package import TLSChannel

/// A failure of a request to a web server.
package enum WebClientError: Error, Hashable, Sendable {
    /// The part of a request that took too long.
    package enum Phase: String, Hashable, Sendable {
        case connecting = "the connection"
        case handshake = "the TLS handshake"
        case response = "the answer"
        /// Other requests of the client use all its connections.
        case waiting = "the wait for another request of this program"
    }

    /// The text is not a URL that this client reads.
    case invalidURL(reason: String)
    /// The method or a header field of the request is not allowed, or its body is too large.
    case invalidRequest(reason: String)
    /// Plain HTTP to another machine.
    case notEncrypted(host: String)
    /// The name system has no address of the host.
    case notFound(host: String)
    /// No address of the host accepts the connection.
    case unreachable(host: String, reason: String)
    case timedOut(Phase)
    /// TLS failed: the certificate, a pin, or the handshake.
    case tls(TLSError)
    /// The answer is larger than the limit.
    case tooLarge(limit: Int)
    /// The answer is not HTTP/1.1.
    case protocolViolation(reason: String)
    /// The server ended the connection before the end of the answer.
    case closed
    /// The task of the request was cancelled.
    case cancelled
    /// The client was closed.
    case clientClosed
}

extension WebClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalidURL(let reason): "this address cannot be used: \(reason)"
        case .invalidRequest(let reason): "this request cannot be sent: \(reason)"
        case .notEncrypted(let host):
            "requests to \(host) must be encrypted: use https://, since http:// is for this machine alone"
        case .notFound(let host):
            "no address of \(host) was found: check the name and the network connection of this device"
        case .unreachable(let host, let reason):
            "\(host) cannot be reached (\(reason)): check the network connection and the port; a firewall may block it"
        case .timedOut(let phase):
            "\(phase.rawValue) took too long: check the network connection, and try again"
        case .tls(let error): "\(error)"
        case .tooLarge(let limit): "the answer of the server is larger than \(limit) bytes, the most that is read"
        case .protocolViolation(let reason):
            "the answer of the server is not HTTP (\(PlainText.line(of: reason))): check the address and the port"
        case .closed: "the server ended the connection before the end of its answer: try again"
        case .cancelled: "the request was cancelled"
        case .clientClosed: "the web client was closed"
        }
    }
}

extension WebClientError: CodedError {
    package var failureCode: FailureCode {
        switch self {
        case .invalidURL: FailureCode("invalid-url", .invalidPath, .usage)
        case .invalidRequest: FailureCode("invalid-web-request", .invalidParameters, .usage)
        case .notEncrypted: FailureCode("not-encrypted", .refused, .notPermitted)
        case .notFound: FailureCode("no-address", .noAddress, .unavailable)
        case .unreachable: FailureCode("unreachable", .unreachable, .unavailable)
        case .timedOut: FailureCode("timed-out", .timedOut, .tryAgain)
        case .tls(let error): error.failureCode
        case .tooLarge: FailureCode("too-large", .tooLarge, .data)
        case .protocolViolation: FailureCode("bad-web-answer", .network, .unavailable)
        case .closed: FailureCode("interrupted", .interrupted, .tryAgain)
        case .cancelled: FailureCode("cancelled", .cancelled, .tryAgain)
        case .clientClosed: FailureCode("not-running", .notRunning, .unavailable)
        }
    }
}
