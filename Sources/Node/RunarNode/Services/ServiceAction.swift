internal import Essentials
internal import Identity

/// An action of a service, whatever it takes and returns.
protocol ServiceAction: Sendable {
    /// Its name below the service, perhaps with parameters.
    var name: String { get }
    var options: ActionOptions { get }

    /// Answers in bytes: those of `encoding`, or, when there is none, of the program's own.
    func answer(_ request: RunarRequest, in encoding: PayloadEncoding) async throws -> EncodedAnswer
}

/// An answer on its way out of the process.
struct EncodedAnswer: Sendable {
    let bytes: Data
    /// The encoding of the bytes; nil for bytes that only the two programs understand.
    let encoding: PayloadEncoding?
}

/// An action between two types; callers in this process that have the same ones reach it without bytes.
final class TypedAction<Input: Sendable, Output: Sendable>: ServiceAction {
    let name: String
    let options: ActionOptions
    let handler: @Sendable (Input?, RunarContext) async throws -> Output
    private let decode: @Sendable (RunarRequest) throws -> Input?
    private let encode: @Sendable (Output, PayloadEncoding) throws -> Data

    init(
        name: String,
        options: ActionOptions,
        decode: @escaping @Sendable (RunarRequest) throws -> Input?,
        encode: @escaping @Sendable (Output, PayloadEncoding) throws -> Data,
        handler: @escaping @Sendable (Input?, RunarContext) async throws -> Output
    ) {
        self.name = name
        self.options = options
        self.decode = decode
        self.encode = encode
        self.handler = handler
    }

    func answer(_ request: RunarRequest, in encoding: PayloadEncoding) async throws -> EncodedAnswer {
        let output = try await handler(decode(request), request.context)
        return EncodedAnswer(bytes: try encode(output, encoding), encoding: encoding)
    }
}

extension TypedAction where Input: Codable, Output: Codable {
    /// An action whose values have the encoding of each request.
    convenience init(
        _ name: String,
        _ options: ActionOptions = ActionOptions(),
        _ handler: @escaping @Sendable (Input?, RunarContext) async throws -> Output
    ) {
        self.init(
            name: name,
            options: options,
            decode: { try $0.payload.isEmpty ? nil : $0.decode(Input?.self) },
            encode: { try $1.encode($0) },
            handler: handler
        )
    }
}

/// An action that takes and returns bytes.
final class RawAction: ServiceAction {
    let name: String
    let options: ActionOptions
    let handler: @Sendable (RunarRequest) async throws -> Data

    init(
        name: String,
        options: ActionOptions,
        handler: @escaping @Sendable (RunarRequest) async throws -> Data
    ) {
        self.name = name
        self.options = options
        self.handler = handler
    }

    func answer(_ request: RunarRequest, in encoding: PayloadEncoding) async throws -> EncodedAnswer {
        EncodedAnswer(bytes: try await handler(request), encoding: request.encoding)
    }
}
