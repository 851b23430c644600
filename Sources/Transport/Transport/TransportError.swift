public import Failures
public import Identity

/// Why a transport operation did not succeed.
public enum TransportError: Error, Hashable, Sendable {
    /// The endpoint could not be made; the text says what to change.
    case initializationFailed(String)
    /// No peer accepted at that address: silence, refusal, or a handshake that failed.
    case connectionFailed(String)
    /// The bytes could not be handed over.
    case sendFailed(String)
    /// Another key than the expected one answered.
    case wrongPeer(expected: PeerId, found: PeerId)
    /// The connection is gone: closed by `code` (0 when there was none), with the closer's words.
    case closed(code: UInt64, reason: String)
    /// The connection fell silent for longer than the idle timeout.
    case timedOut
    /// The peer gave up sending on the stream.
    case reset(code: UInt64)
    /// The peer asked us to stop sending on the stream.
    case stopped(code: UInt64)
    /// The stream is used by two readers or two concurrent writers, or written after its end.
    case misuse(String)
    /// The endpoint was closed by its own side.
    case endpointClosed
}

extension TransportError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    public var description: String {
        switch self {
        case .initializationFailed(let why): "the transport could not start: \(why)"
        case .connectionFailed(let why): "no connection: \(why)"
        case .sendFailed(let why): "sending failed: \(why)"
        case .wrongPeer(let expected, let found):
            "another peer answered: expected \(expected.short), found \(found.short); check the address"
        case .closed(let code, let reason):
            reason.isEmpty ? "the connection was closed (code \(code))" : "the connection was closed: \(reason)"
        case .timedOut: "the peer does not respond; it may be offline or unreachable"
        case .reset(let code): "the peer reset the stream (code \(code))"
        case .stopped(let code): "the peer stopped reading the stream (code \(code))"
        case .misuse(let what): "wrong use of a stream: \(what)"
        case .endpointClosed: "the endpoint is closed"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .initializationFailed: FailureCode("no-socket", .network, .unavailable)
        case .timedOut: FailureCode("timed-out", .network, .tryAgain)
        case .connectionFailed, .sendFailed, .wrongPeer, .closed, .reset, .stopped, .misuse, .endpointClosed:
            FailureCode("unreachable", .network, .unavailable)
        }
    }
}
