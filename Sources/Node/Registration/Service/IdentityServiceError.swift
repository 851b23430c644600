package import Failures
internal import Identity

/// Why a request to an identity server failed.
package enum IdentityServiceError: Error, Hashable, Sendable {
    /// The server answered with a failure: its word, its sentence with the next step, and the status of HTTP.
    case refused(code: String, message: String, status: Int)
    /// No connection was made, or it broke.
    case unreachable(reason: String)
    /// The server did not prove its name, by its certificate or by the pinned key.
    case untrusted(reason: String)
    /// The server did not answer in time.
    case timedOut
    /// The answer is not that of an identity server.
    case malformedAnswer(reason: String)
    /// No identity server is configured.
    case notConfigured
    /// The program ended the request.
    case cancelled

    /// The most bytes of a word that is taken from an answer.
    private static let codeByteLimit = 64
    /// The most bytes of a sentence that is taken from an answer.
    private static let messageByteLimit = 1_024

    /// Takes over the words of a server, as far as they are fit to show.
    package static func refused(by code: String?, message: String?, status: Int) -> IdentityServiceError {
        let isCode = { (code: String) in
            1...codeByteLimit ~= code.utf8.count
                && code.utf8.allSatisfy { byte in
                    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "-")
                }
        }
        let sentence = PlainText.line(of: String((message ?? "").prefix(messageByteLimit)))
        return .refused(
            code: code.flatMap { isCode($0) ? $0 : nil } ?? "refused",
            message: sentence.isEmpty ? "the identity server answered with the status \(status)" : sentence,
            status: status
        )
    }

    /// Whether the server certainly did nothing: it refused the request, so a change was not made.
    package var isRefusal: Bool {
        switch self {
        case .refused(_, _, let status): 400..<500 ~= status
        case .notConfigured: true
        case .unreachable, .untrusted, .timedOut, .malformedAnswer, .cancelled: false
        }
    }

    /// Whether no server could be reached, so that a program works without one.
    package var isOffline: Bool {
        switch self {
        case .unreachable, .untrusted, .timedOut, .notConfigured: true
        case .refused, .malformedAnswer, .cancelled: false
        }
    }

    /// The word of a refusal.
    package var refusalCode: String? {
        guard case .refused(let code, _, _) = self, isRefusal else { return nil }
        return code
    }
}

extension IdentityServiceError: CodedError, CustomStringConvertible {
    /// The failure in words, and the next step.
    package var description: String {
        switch self {
        case .refused(_, let message, _): message
        case .unreachable(let reason):
            "the identity server cannot be reached (\(reason)): check the network, and try to reconnect"
        case .untrusted(let reason):
            "the identity server did not prove its name (\(reason)): check its address and certificate, and send nothing"
        case .timedOut: "the identity server did not answer in time: try to reconnect"
        case .malformedAnswer(let reason):
            "this is not the answer of an identity server (\(reason)): check the address of the server"
        case .notConfigured: "no identity server is configured: set its address"
        case .cancelled: "the request was cancelled: try again"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .refused(let code, _, let status):
            FailureCode(code, .refused, Self.exitStatus(of: status), http: status)
        case .unreachable: FailureCode("identity-server-unreachable", .unreachable, .unavailable)
        case .untrusted: FailureCode("identity-server-untrusted", .notAuthentic, .notPermitted)
        case .timedOut: FailureCode("identity-server-timeout", .timedOut, .tryAgain)
        case .malformedAnswer: FailureCode("bad-identity-answer", .decoding, .data)
        case .cancelled: FailureCode("cancelled", .cancelled, .tryAgain)
        case .notConfigured: FailureCode("no-identity-server", .noAddress, .configuration)
        }
    }

    private static func exitStatus(of status: Int) -> ExitStatus {
        switch status {
        case 400, 422: .data
        case 404: .noInput
        case 409: .cannotCreate
        case 401, 403: .notPermitted
        case 408, 429, 503: .tryAgain
        default: .unavailable
        }
    }
}
