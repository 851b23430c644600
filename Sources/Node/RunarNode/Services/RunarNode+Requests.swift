internal import Concurrency
public import Essentials
internal import Identity
internal import Logging
internal import Node
internal import Services

// Requests to services, on this device or on others.
extension RunarNode {
    /// Sends a request to a service and returns its answer.
    ///
    /// `path` is `service/action` or `network:service/action`, where the network is its id or its name and otherwise
    /// ``RunarNodeConfig/defaultNetworkId``. This device's own service answers if there is one that runs, otherwise one
    /// after the other of the connected members that offer it. A service on this device with the same types gets the
    /// payload as it is, without bytes between.
    ///
    /// - Throws: ``RunarError``: 4001 to 4009 for the service, 3000 to 3010 for the connection; `CancellationError` when
    ///   cancelled, which also cancels the handler, on whichever device it runs.
    public func request<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        payload: Input?,
        options: RequestOptions = RequestOptions()
    ) async throws -> Output {
        let route = try services.route(path)
        if let hosted = try local(route, options),
            let action = route.action as? TypedAction<Input, Output>, action.options.cacheAge == nil
        {
            return try await call(route, options, of: hosted) { context in
                try await action.handler(payload, context)
            }
        }
        let bytes = try payload.map { try options.encoding.encode($0) } ?? Data()
        let answer = try await sendRequest(
            route,
            payload: bytes,
            encoding: bytes.isEmpty ? nil : options.encoding,
            options
        )
        return try (answer.encoding ?? options.encoding).decode(Output.self, from: answer.bytes)
    }

    /// Sends a request to a service with a payload and an answer of one type.
    public func request<Value: Codable & Sendable>(_ path: String, payload: Value?) async throws -> Value {
        try await request(path, payload: payload, options: RequestOptions())
    }

    /// Sends a request to a service with values of any shape.
    public func request(_ path: String, payload: [String: RunarValue]?) async throws -> [String: RunarValue] {
        try await request(path, payload: payload, options: RequestOptions())
    }

    /// Sends a request to a service with bytes that only the two programs understand.
    public func request(
        _ path: String,
        payload: Data?,
        options: RequestOptions = RequestOptions()
    ) async throws -> Data {
        try await sendRequest(services.route(path), payload: payload ?? Data(), encoding: nil, options).bytes
    }

    /// Sends a request to a service with bytes in the given encoding and returns the bytes of the answer.
    ///
    /// For programs that encode and decode by themselves, such as those in other languages.
    public func requestRaw(
        _ path: String,
        payload: Data?,
        encoding: PayloadEncoding? = .json,
        options: RequestOptions = RequestOptions()
    ) async throws -> Data {
        try await sendRequest(services.route(path), payload: payload ?? Data(), encoding: encoding, options).bytes
    }

    // MARK: - Inside

    /// Sends a request to the service of a path, on this device or another one.
    func sendRequest(
        _ route: ServiceHost.Route,
        payload: Data,
        encoding: PayloadEncoding?,
        _ options: RequestOptions
    ) async throws -> EncodedAnswer {
        guard let hosted = try local(route, options), let action = route.action else {
            return try await requestPeers(route, payload: payload, encoding: encoding, options)
        }
        let reply = hosted.service.encoding ?? encoding ?? options.encoding
        return try await call(route, options, of: hosted) { context in
            let request = RunarRequest(context: context, payload: payload, encoding: encoding)
            return try await hosted.answer(request, action, in: reply)
        }
    }

    /// The service of this device that answers, if it is one of this device.
    ///
    /// - Throws: ``RunarError`` when the node does not run, or no other device can answer either.
    func local(_ route: ServiceHost.Route, _ options: RequestOptions) throws -> HostedService? {
        guard isRunning else { throw RunarError(NodeError.notRunning) }
        if let peer = options.peer, peer != peerId { return nil }
        if let hosted = route.hosted, route.action != nil, hosted.state == .running { return hosted }
        guard let hosted = route.hosted else {
            guard options.peer == nil, canRequestPeers(in: route.network) else {
                throw ServiceFailures.noService(route.path.text)
            }
            return nil
        }
        let isElsewhere = options.peer == nil && canRequestPeers(in: route.network)
        guard route.action != nil else {
            if isElsewhere { return nil }
            throw ServiceFailures.noAction(route.path.text)
        }
        if isElsewhere { return nil }
        throw ServiceFailures.notRunning(route.path.text, state: hosted.state)
    }

    /// Calls a handler of this device.
    func call<Output: Sendable>(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        of hosted: HostedService,
        _ body: @escaping @Sendable (RunarContext) async throws -> Output
    ) async throws -> Output {
        let limit = min(options.timeout ?? config.requestTimeout, RequestHeader.longestTimeLimit)
        let context = RunarContext(
            path: route.path.text,
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
                clock: clock,
                overdue: { ServiceFailures.deadline(route.path.text, limit) },
                { try await body(context) }
            )
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw ServiceFailures.handler(error, route.path.text)
        }
    }
}

// Requests that leave the device.
extension RunarNode {
    /// Whether a request to another device of a network is possible.
    func canRequestPeers(in network: NetworkKey) -> Bool {
        guard case .known(let id) = network else { return false }
        return services.isMember(of: id)
    }

    /// Sends a request to another device.
    func requestPeers(
        _ route: ServiceHost.Route,
        payload: Data,
        encoding: PayloadEncoding?,
        _ options: RequestOptions
    ) async throws -> EncodedAnswer {
        guard case .known(let network) = route.network else { throw ServiceFailures.noService(route.path.text) }
        return try await translatingFailures(of: route) {
            let header = self.header(route, encoding, hasBody: !payload.isEmpty, options)
            let (type, bytes) = try await running()
                .request(header, body: [UInt8](payload), in: network, to: options.peer)
            return EncodedAnswer(bytes: Data(bytes), encoding: type.encoding)
        }
    }

    /// The header of a request.
    func header(
        _ route: ServiceHost.Route,
        _ encoding: PayloadEncoding?,
        hasBody: Bool,
        _ options: RequestOptions
    ) -> RequestHeader {
        RequestHeader(
            path: route.path,
            contentType: encoding.map(\.contentType) ?? (hasBody ? .bytes : .none),
            isIdempotent: options.isIdempotent,
            timeLimit: options.timeout ?? config.requestTimeout,
            metadata: options.metadata.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }
        )
    }

    /// Runs `body` and translates its failures to ``RunarError``.
    func translatingFailures<Result>(
        of route: ServiceHost.Route,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as ServiceFailure {
            // If no other device has the service either, the state of this device's own is the more useful reason.
            if failure.kind == .noService, let hosted = route.hosted {
                guard route.action != nil else { throw ServiceFailures.noAction(route.path.text) }
                throw ServiceFailures.notRunning(route.path.text, state: hosted.state)
            }
            throw RunarError(failure, route.path.text)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            let found = RunarError(error)
            guard found.context.isEmpty else { throw found }
            throw RunarError.failure(found.kind, message: found.message, context: route.path.text)
        }
    }
}

// Requests whose payload or answer is a sequence.
extension RunarNode {
    /// Requests a sequence of values.
    ///
    /// The sequence may take a day unless the `options` set another limit, and its sender waits while the reader is slow. If
    /// the handler returns one value, the sequence consists of it. `path` and the choice of the provider are those of
    /// `request(_:payload:options:)`; once the sequence began, no other device gets the request.
    ///
    /// - Throws: as `request(_:payload:options:)`, as far as it is known before the first value.
    public func stream<Input: Encodable & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        payload: Input?,
        options: RequestOptions = RequestOptions()
    ) async throws -> RunarStream<Output> {
        let item = try payload.map { try options.encoding.encode($0) }
        return RunarStream(
            source: try await open(services.route(path), options) { send in
                if let item { try await send(item) }
            }
        )
    }

    /// Sends a sequence of values and requests one.
    ///
    /// The values are taken from `inputs` as quickly as the handler takes them; an error of theirs ends the request.
    public func stream<Inputs: AsyncSequence & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        sending inputs: Inputs,
        options: RequestOptions = RequestOptions()
    ) async throws -> RunarStream<Output> where Inputs.Element: Encodable & Sendable {
        RunarStream(
            source: try await open(services.route(path), options) { send in
                for try await input in inputs { try await send(options.encoding.encode(input)) }
            }
        )
    }

    /// Sends a sequence of values and returns the one that the handler makes of them.
    ///
    /// - Throws: as `request(_:payload:options:)`; ``RunarError`` 5002 when there is no answer.
    public func request<Inputs: AsyncSequence & Sendable, Output: Decodable & Sendable>(
        _ path: String,
        sending inputs: Inputs,
        options: RequestOptions = RequestOptions()
    ) async throws -> Output where Inputs.Element: Encodable & Sendable {
        var options = options
        options.timeout = options.timeout ?? config.requestTimeout
        let answer: RunarStream<Output> = try await stream(path, sending: inputs, options: options)
        guard let value = try await answer.next() else {
            throw RunarError.failure(.decoding, message: "the handler returned nothing", context: path)
        }
        return value
    }

    // MARK: - Inside

    /// Sends the items of a request.
    typealias Upload = @Sendable (_ send: @Sendable (Data) async throws -> Void) async throws -> Void

    private func open(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        _ upload: @escaping Upload
    ) async throws -> any ItemSource {
        var options = options
        options.timeout = options.timeout ?? RequestHeader.longestTimeLimit
        if let hosted = try local(route, options), let action = route.action {
            return openLocally(route, options, action, of: hosted, upload)
        }
        guard case .known(let network) = route.network else { throw ServiceFailures.noService(route.path.text) }
        return try await translatingFailures(of: route) {
            var header = self.header(route, options.encoding, hasBody: true, options)
            header.streamsBody = true
            let request = try await running().openRequest(header, in: network, to: options.peer)
            let task = Task {
                do {
                    try await upload { try await request.send([UInt8]($0)) }
                    try await request.finish()
                } catch is ServiceFailure {
                    // The provider answered without reading all; otherwise the reader gets the error.
                } catch {
                    try? await request.fail(ServiceFailure(handler: error, route.path.text))  // it may be over
                }
            }
            return OutgoingSource(request, options.encoding, upload: task) { error in
                switch error {
                case let failure as ServiceFailure: RunarError(failure, route.path.text)
                case is CancellationError where Task.isCancelled: error
                default: RunarError(error)
                }
            }
        }
    }

    private func openLocally(
        _ route: ServiceHost.Route,
        _ options: RequestOptions,
        _ action: any ServiceAction,
        of hosted: HostedService,
        _ upload: @escaping Upload
    ) -> any ItemSource {
        let reply = hosted.service.encoding ?? options.encoding
        let (inputs, outputs) = (ItemChannel(options.encoding), ItemChannel(reply))
        let sending = Task {
            do {
                try await upload { try await inputs.send($0) }
                inputs.finish()
            } catch {
                inputs.finish(.failure(ServiceFailures.handler(error, route.path.text)))
            }
        }
        let handling = Task {
            do {
                try await call(route, options, of: hosted) { context in
                    if let action = action as? any StreamingServiceAction {
                        try await action.run(inputs, outputs, in: reply, context)
                    } else {
                        let payload = try await inputs.next()?.bytes ?? Data()
                        let request = RunarRequest(context: context, payload: payload, encoding: options.encoding)
                        try await outputs.send(hosted.answer(request, action, in: reply).bytes)
                    }
                }
                outputs.finish()
            } catch {
                outputs.finish(.failure(error))
            }
            inputs.abandon()
        }
        return LocalSource(outputs, [sending, handling])
    }
}
