internal import Identity
internal import Node
internal import Services

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Asking services, on this device or on others.
extension RunarNode {
    /// Asks a service and returns its answer.
    ///
    /// `path` is `service/action` or `network:service/action`, where the network is its id or its name and otherwise
    /// ``RunarNodeConfig/defaultNetworkId``. This device's own service answers if there is one that runs, otherwise one
    /// after the other of the connected members that offer it. A service on this device with the same types gets the
    /// payload as it is, without bytes between.
    ///
    /// - Throws: ``RunarError``: 4001 to 4009 for the service, 3000 to 3009 for the way there; `CancellationError` when
    ///   cancelled, of which the handler is told, wherever it runs.
    public func request<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        payload: Input?,
        options: RequestOptions = RequestOptions()
    ) async throws -> Output {
        let route = try self.services.route(path)
        if let hosted = try self.local(route, options),
            let action = route.action as? TypedAction<Input, Output>, action.options.cacheAge == nil
        {
            return try await self.call(route, options, of: hosted) { context in
                try await action.handler(payload, context)
            }
        }
        let bytes = try payload.map { try options.encoding.encode($0) } ?? Data()
        let answer = try await self.ask(
            route,
            payload: bytes,
            encoding: bytes.isEmpty ? nil : options.encoding,
            options
        )
        return try (answer.encoding ?? options.encoding).decode(Output.self, from: answer.bytes)
    }

    /// The same where payload and answer have one type.
    public func request<Value: Codable & Sendable>(_ path: String, payload: Value?) async throws -> Value {
        try await self.request(path, payload: payload, options: RequestOptions())
    }

    /// The same with values of any shape.
    public func request(_ path: String, payload: [String: RunarValue]?) async throws -> [String: RunarValue] {
        try await self.request(path, payload: payload, options: RequestOptions())
    }

    /// The same with bytes that only the two programs understand.
    public func request(
        _ path: String,
        payload: Data?,
        options: RequestOptions = RequestOptions()
    ) async throws -> Data {
        try await self.ask(self.services.route(path), payload: payload ?? Data(), encoding: nil, options).bytes
    }

    /// The same with bytes that are written as `encoding` says, and those of the answer.
    ///
    /// For programs that encode and decode by themselves, such as those in other languages.
    public func requestRaw(
        _ path: String,
        payload: Data?,
        encoding: PayloadEncoding? = .json,
        options: RequestOptions = RequestOptions()
    ) async throws -> Data {
        try await self.ask(self.services.route(path), payload: payload ?? Data(), encoding: encoding, options).bytes
    }

    // MARK: - Inside

    /// Asks whoever a path leads to.
    func ask(
        _ route: ServiceHost.Route,
        payload: Data,
        encoding: PayloadEncoding?,
        _ options: RequestOptions
    ) async throws -> EncodedAnswer {
        guard let hosted = try self.local(route, options), let action = route.action else {
            return try await self.askPeers(route, payload: payload, encoding: encoding, options)
        }
        let reply = hosted.service.encoding ?? encoding ?? options.encoding
        return try await self.call(route, options, of: hosted) { context in
            let request = RunarRequest(context: context, payload: payload, encoding: encoding)
            return try await hosted.answer(request, action, in: reply)
        }
    }

    /// The service of this device that answers, if it is one of this device.
    ///
    /// - Throws: ``RunarError`` when the node does not run, or nobody else can answer either.
    func local(_ route: ServiceHost.Route, _ options: RequestOptions) throws -> HostedService? {
        guard self.isRunning else { throw RunarError(NodeError.notRunning) }
        if let peer = options.peer, peer != self.peerId { return nil }
        if let hosted = route.hosted, route.action != nil, hosted.state == .running { return hosted }
        guard let hosted = route.hosted else {
            guard options.peer == nil, self.canAskPeers(in: route.network) else {
                throw ServiceFailures.noService(route.path)
            }
            return nil
        }
        let isElsewhere = options.peer == nil && self.canAskPeers(in: route.network)
        guard route.action != nil else {
            if isElsewhere { return nil }
            throw ServiceFailures.noAction(route.path)
        }
        if isElsewhere { return nil }
        throw ServiceFailures.notRunning(route.path, state: hosted.state)
    }

    /// Calls a handler of this device.
    func call<Output: Sendable>(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        of hosted: HostedService,
        _ body: @escaping @Sendable (RunarContext) async throws -> Output
    ) async throws -> Output {
        let limit = min(options.timeout ?? self.config.requestTimeout, RequestHeader.longestTimeLimit)
        let context = RunarContext(
            path: route.path,
            parameters: route.parameters,
            networkId: route.network.networkId,
            peer: nil,
            deadline: .now + limit,
            metadata: options.metadata,
            node: self,
            network: route.network,
            encoding: hosted.service.encoding ?? .json
        )
        do {
            return try await LocalCall.run(
                limit: limit,
                clock: self.clock,
                overdue: { ServiceFailures.deadline(route.path, limit) },
                { try await body(context) }
            )
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw ServiceFailures.handler(error, route.path)
        }
    }
}
