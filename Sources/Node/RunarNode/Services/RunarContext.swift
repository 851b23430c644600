public import Identity
public import Logging

/// The context of a handler or a service: the caller and the network, and ways to send requests and publish events.
///
/// Names without a network mean that of the service; names without a slash mean the service itself.
public struct RunarContext: Sendable {
    /// The path of the request: the service, a slash, and the action; the service alone outside a call.
    public let path: String
    /// The part of the path that matches each `{name}` of the action.
    public let parameters: [String: String]
    /// In which network; nil for a name that is no network yet.
    public let networkId: NetworkId?
    /// The calling device; nil for this one.
    public let peer: PeerId?
    /// The time at which the caller stops waiting; nil outside a call.
    public let deadline: ContinuousClock.Instant?
    /// Names and values sent with the request or event.
    public let metadata: [String: String]
    /// The node on which the service runs.
    public let node: RunarNode

    let network: NetworkKey
    /// The encoding of the events that the service publishes.
    let encoding: PayloadEncoding

    /// Writes to the node's log, with the path.
    public var logger: Logger {
        var logger = node.logs[.services]
        logger[metadataKey: "path"] = "\(path)"
        return logger
    }

    /// Sends a request to a service; see `request(_:payload:options:)`.
    ///
    /// Within a call the time limit is at most the time left for that call's own answer, whatever the `options`.
    public func request<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        payload: Input?,
        options: RequestOptions = RequestOptions()
    ) async throws -> Output {
        var options = options
        if let deadline { options.timeout = min(options.timeout ?? node.config.requestTimeout, deadline - .now) }
        return try await node.request(resolved(path), payload: payload, options: options)
    }

    /// Publishes an event as the service writes values; see `publish(_:data:)`.
    public func publish<Value: Encodable & Sendable>(_ topic: String, data: Value?) async throws {
        try await node.publish(resolved(topic), data: data, encoding: encoding)
    }

    /// Returns the context for a call of an action of the service.
    func at(_ path: String, parameters: [String: String], timeout: Duration) -> RunarContext {
        RunarContext(
            path: path,
            parameters: parameters,
            networkId: networkId,
            peer: nil,
            deadline: .now + timeout,
            metadata: [:],
            node: node,
            network: network,
            encoding: encoding
        )
    }

    /// The full form of a name that is relative to this service.
    func resolved(_ name: String) -> String {
        if name.contains(":") { return name }
        let service = path.prefix { $0 != "/" }
        return "\(network.text):" + (name.contains("/") ? name : "\(service)/\(name)")
    }
}
