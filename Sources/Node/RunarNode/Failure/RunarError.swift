public import Essentials
public import Failures

/// Why something that a program asked of a node failed: a ``code`` to decide by, a ``message`` to read, and a ``context``.
public enum RunarError: Error, LocalizedError, Sendable {
    /// A value could not be encoded.
    case encodingError(any Error)
    /// An answer could not be decoded.
    case decodingError(any Error)
    /// Something below failed that has no kind of its own.
    case nativeError(String)
    /// Parameters are missing or wrong.
    case invalidParameters
    /// The cause is unknown.
    case unknownError
    /// Anything else: of which kind, in words, and what it was about - a path, a peer, a file - or an empty text.
    case failure(RunarErrorCode, message: String, context: String = "")

    /// The text of the failure.
    public var errorDescription: String? { message }

    /// The number of the kind of failure; see ``RunarErrorCode``.
    public var code: Int32 { kind.rawValue }

    /// The kind of failure.
    public var kind: RunarErrorCode {
        switch self {
        case .encodingError: .encoding
        case .decodingError: .decoding
        case .nativeError, .unknownError: .unknown
        case .invalidParameters: .invalidParameters
        case .failure(let code, _, _): code
        }
    }

    /// The failure in words.
    public var message: String {
        switch self {
        case .encodingError(let error): "Encoding error: \(Self.text(of: error))"
        case .decodingError(let error): "Decoding error: \(Self.text(of: error))"
        case .nativeError(let message): "Native error: \(message)"
        case .invalidParameters: "Invalid parameters"
        case .unknownError: "Unknown error occurred"
        case .failure(_, let message, _): message
        }
    }

    /// The subject of the failure: a path, a peer, a file; empty without one.
    public var context: String {
        guard case .failure(_, _, let context) = self else { return "" }
        return context
    }
}

extension RunarError: CodedError {
    /// Any error that this library throws, with a code, a message and a context.
    public init(_ error: any Error) {
        switch error {
        case let error as RunarError: self = error
        case let error as any CodedError:
            self = .failure(error.failureCode.number, message: "\(error)", context: error.subject)
        case is CancellationError: self = .failure(.cancelled, message: "the call was cancelled")
        case let error as EncodingError: self = .encodingError(error)
        case let error as DecodingError: self = .decodingError(error)
        default: self = .failure(.unknown, message: Self.text(of: error))
        }
    }

    package var failureCode: FailureCode { FailureCode(kind.slug, kind, kind.exitStatus) }

    package var commandMessage: String { message + (context.isEmpty ? "" : " (\(context))") }

    package var subject: String { context }
}

extension RunarError: CustomStringConvertible {
    /// Message, context and number.
    public var description: String {
        let about = context.isEmpty ? "" : " [\(context)]"
        return "\(message)\(about) (\(code))"
    }
}

extension RunarError {
    /// An error in its own words, without what only programmers of this library read.
    static func text(of error: any Error) -> String {
        switch error {
        case let error as DecodingError: Self.text(of: error)
        case EncodingError.invalidValue(let value, let context):
            "\(type(of: value)) at \(Self.place(context.codingPath)): \(context.debugDescription)"
        case let error as any LocalizedError: error.errorDescription ?? "\(error)"
        default: "\(error)"
        }
    }

    private static func text(of error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context):
            "no \(type) at \(place(context.codingPath)): \(context.debugDescription)"
        case .valueNotFound(let type, let context): "a \(type) is missing at \(place(context.codingPath))"
        case .keyNotFound(let key, let context):
            "\"\(key.stringValue)\" is missing at \(place(context.codingPath))"
        case .dataCorrupted(let context): "\(context.debugDescription) (at \(place(context.codingPath)))"
        @unknown default: "\(error)"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the top" : path.map(\.stringValue).joined(separator: ".")
    }
}
