internal import Concurrency
internal import Essentials
internal import Node
internal import Services

/// Values that arrive one after another: the answer to ``RunarNode/stream(_:payload:options:)``, or the payload of a
/// handler.
///
/// It is for one reader. The sender waits while the reader is slow. Releasing it notifies the other side that reading has
/// ended.
public struct RunarStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let source: any ItemSource

    /// Hands out one value after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: any ItemSource

        /// The next value; nil after the last one.
        ///
        /// - Throws: ``RunarError`` when the sequence broke; `CancellationError` when cancelled.
        public mutating func next() async throws -> Element? {
            guard let item = try await source.next() else { return nil }
            return try item.encoding.decode(Element.self, from: item.bytes)
        }
    }

    /// Begins to hand them out.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// The next value; nil after the last one.
    public func next() async throws -> Element? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }
}

/// Sends values one after another to the caller.
public struct RunarStreamWriter<Element: Encodable & Sendable>: Sendable {
    let sink: any ItemSink
    let encoding: PayloadEncoding
    /// The caller and the network, and ways to send requests and publish events from there.
    public let context: RunarContext

    /// Sends a value, and waits while the caller is slow.
    ///
    /// - Throws: ``RunarError`` when the caller no longer reads; `CancellationError` when cancelled.
    public func send(_ value: Element) async throws {
        try await sink.send(encoding.encode(value))
    }
}

/// An encoded value on its way.
struct StreamItem: Sendable {
    let bytes: Data
    let encoding: PayloadEncoding
}

/// A source of values for one reader.
protocol ItemSource: Sendable {
    func next() async throws -> StreamItem?
}

/// A destination of values.
protocol ItemSink: Sendable {
    func send(_ bytes: Data) async throws
}

/// An action that takes and returns sequences.
protocol StreamingServiceAction: ServiceAction {
    /// Runs the handler to its end; `sink` takes the values of `encoding`.
    func run(
        _ source: any ItemSource,
        _ sink: any ItemSink,
        in encoding: PayloadEncoding,
        _ context: RunarContext
    ) async throws
}

extension StreamingServiceAction {
    func answer(_ request: RunarRequest, in encoding: PayloadEncoding) async throws -> EncodedAnswer {
        throw RunarError.failure(
            .invalidParameters,
            message: "the action answers with a sequence: ask with stream(_:payload:) in place of request(_:payload:)",
            context: request.path
        )
    }
}

/// An action between two types of values.
final class StreamAction: StreamingServiceAction {
    typealias Handler =
        @Sendable (any ItemSource, any ItemSink, PayloadEncoding, RunarContext) async throws -> Void

    let name: String
    let options: ActionOptions
    private let handler: Handler

    init(name: String, options: ActionOptions, handler: @escaping Handler) {
        self.name = name
        self.options = options
        self.handler = handler
    }

    func run(
        _ source: any ItemSource,
        _ sink: any ItemSink,
        in encoding: PayloadEncoding,
        _ context: RunarContext
    ) async throws {
        try await handler(source, sink, encoding, context)
    }
}

extension RunarService {
    /// Adds an action that answers one value with a sequence, which the handler sends one after another.
    public final func registerStream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (Input?, RunarStreamWriter<Output>) async throws -> Void
    ) {
        register(
            StreamAction(name: name, options: options) { source, sink, encoding, context in
                let input = try await RunarStream<Input>(source: source).next()
                try await handler(input, RunarStreamWriter(sink: sink, encoding: encoding, context: context))
            }
        )
    }

    /// Adds an action that takes a sequence and returns one value.
    public final func registerStream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (RunarStream<Input>, RunarContext) async throws -> Output
    ) {
        register(
            StreamAction(name: name, options: options) { source, sink, encoding, context in
                let output = try await handler(RunarStream(source: source), context)
                try await sink.send(encoding.encode(output))
            }
        )
    }

    /// Adds an action that takes a sequence and answers with one, concurrently.
    public final func registerStream<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (RunarStream<Input>, RunarStreamWriter<Output>) async throws -> Void
    ) {
        register(
            StreamAction(name: name, options: options) { source, sink, encoding, context in
                let writer = RunarStreamWriter<Output>(sink: sink, encoding: encoding, context: context)
                try await handler(RunarStream(source: source), writer)
            }
        )
    }
}
