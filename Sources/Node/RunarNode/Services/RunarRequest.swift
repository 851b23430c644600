public import Essentials
public import Identity

/// A request as a handler sees it.
public struct RunarRequest: Sendable {
    /// The caller and the network, and ways to send requests and publish events from there.
    public let context: RunarContext
    /// The payload of the request; empty for nothing.
    public let payload: Data
    /// The encoding of the payload; nil for bytes that only the two programs understand.
    public let encoding: PayloadEncoding?

    /// The path of the request: the service, a slash, and the action.
    public var path: String { context.path }
    /// The part of the path that matches each `{name}` of the action.
    public var parameters: [String: String] { context.parameters }
    /// The network of the request; nil for a name that is no network yet.
    public var networkId: NetworkId? { context.networkId }
    /// The calling device; nil for this one.
    public var peer: PeerId? { context.peer }
    /// The time at which the caller stops waiting.
    public var deadline: ContinuousClock.Instant { context.deadline ?? .now }
    /// Names and values sent with the request.
    public var metadata: [String: String] { context.metadata }

    /// The payload as a value; nothing at all is the value `nil`, where that is one.
    ///
    /// - Throws: ``RunarError`` 4009 when it cannot be read as one.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RunarError) -> Value {
        do {
            return try (encoding ?? .json).decode(Value.self, from: payload)
        } catch {
            throw .failure(.badPayload, message: "the payload cannot be read: \(error.message)", context: path)
        }
    }
}
