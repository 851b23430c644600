internal import Concurrency
internal import Identity
internal import Logging
internal import Node
internal import Services

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Requests that leave the device, and those that come from others.
extension RunarNode {
    /// Whether there may be somebody else to ask in a network.
    func canAskPeers(in network: NetworkKey) -> Bool {
        guard case .known(let id) = network else { return false }
        return self.services.isMember(of: id)
    }

    /// Asks another device.
    func askPeers(
        _ route: ServiceHost.Route,
        payload: Data,
        encoding: PayloadEncoding?,
        _ options: RequestOptions
    ) async throws -> EncodedAnswer {
        guard case .known(let network) = route.network else { throw ServiceFailures.noService(route.path) }
        return try await self.translatingFailures(of: route) {
            let header = self.header(route, encoding, hasBody: !payload.isEmpty, options)
            let (type, bytes) = try await self.running()
                .request(header, body: [UInt8](payload), in: network, to: options.peer)
            return EncodedAnswer(bytes: Data(bytes), encoding: type.encoding)
        }
    }

    /// What a request says of itself on its way.
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
            timeLimit: options.timeout ?? self.config.requestTimeout,
            metadata: options.metadata.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }
        )
    }

    /// Runs `body` and says in the terms of programs how it failed.
    func translatingFailures<Result>(
        of route: ServiceHost.Route,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as ServiceFailure {
            // Where nobody else has the service either, this device's own says more.
            if failure.kind == .noService, let hosted = route.hosted {
                guard route.action != nil else { throw ServiceFailures.noAction(route.path) }
                throw ServiceFailures.notRunning(route.path, state: hosted.state)
            }
            throw RunarError(failure, route.path)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            let found = RunarError(error)
            guard found.context.isEmpty else { throw found }
            throw RunarError.failure(found.kind, message: found.message, context: route.path)
        }
    }

    // MARK: - Requests of others

    /// The nodes of whose requests a task is the handler.
    @TaskLocal private static var serving: Set<ObjectIdentifier> = []

    /// Whether this task is a handler that another device asked: the node's run waits for its end.
    var isServing: Bool { Self.serving.contains(ObjectIdentifier(self)) }

    /// Calls `body` as if no request of another device were being handled, for tasks that outlive the request.
    static func outsideRequests<Result>(_ body: () -> Result) -> Result { Self.$serving.withValue([], operation: body) }

    /// Answers a request of another device.
    func serve(_ incoming: IncomingRequest) async {
        await Self.$serving.withValue(Self.serving.union([ObjectIdentifier(self)])) { await self.answer(incoming) }
    }

    private func answer(_ incoming: IncomingRequest) async {
        let path = incoming.header.path
        do {
            let route = try self.services.route(path, in: incoming.network)
            guard let hosted = route.hosted else { throw ServiceFailure(kind: .noService, context: path) }
            guard let action = route.action else { throw ServiceFailure(kind: .noAction, context: path) }
            let state = hosted.state
            guard state == .running else {
                let message = ServiceFailures.notRunning(path, state: state).message
                throw ServiceFailure(kind: .notRunning, message: message, context: path)
            }
            let context = self.context(of: incoming, hosted, route)
            if let action = action as? any StreamingServiceAction {
                try await self.serve(incoming, action, of: hosted, context)
            } else {
                try await self.serve(incoming, action, of: hosted, context)
            }
        } catch let failure as ServiceFailure {
            await incoming.fail(failure)
        } catch {
            await incoming.fail(ServiceFailure(handler: error, path))
        }
    }

    private func serve(
        _ incoming: IncomingRequest,
        _ action: any ServiceAction,
        of hosted: HostedService,
        _ context: RunarContext
    ) async throws {
        let encoding = incoming.header.contentType.encoding
        // What is sent as a sequence has its first item alone for an action that takes one value.
        let request = RunarRequest(
            context: context,
            payload: Data(try await incoming.nextItem() ?? []),
            encoding: encoding
        )
        let answer = try await hosted.answer(request, action, in: hosted.service.encoding ?? encoding ?? .json)
        try await incoming.respond([UInt8](answer.bytes), answer.contentType)
    }

    /// Answers with a sequence.
    private func serve(
        _ incoming: IncomingRequest,
        _ action: any StreamingServiceAction,
        of hosted: HostedService,
        _ context: RunarContext
    ) async throws {
        let encoding = incoming.header.contentType.encoding
        let reply = hosted.service.encoding ?? encoding ?? .json
        let sink = IncomingSink(incoming, reply.contentType)
        try await action.run(IncomingSource(incoming, encoding ?? .json), sink, in: reply, context)
        try await sink.finish()
    }

    private func context(
        of incoming: IncomingRequest,
        _ hosted: HostedService,
        _ route: ServiceHost.Route
    ) -> RunarContext {
        let fields = incoming.header.metadata.map { ($0.name, $0.value) }
        return RunarContext(
            path: route.path,
            parameters: route.parameters,
            networkId: incoming.network,
            peer: incoming.peer,
            deadline: .now + incoming.header.timeLimit,
            metadata: Dictionary(fields) { first, _ in first },
            node: self,
            network: route.network,
            encoding: hosted.service.encoding ?? .json
        )
    }

    // MARK: - Offers

    /// Tells the members of each network what this device offers there.
    func announceServices() {
        guard let driver = try? self.running() else { return }  // a node that starts does it then
        let offered = self.services.announcing.withLock { _ in
            let offered = self.services.offered()
            for (network, hosted) in offered {
                do {
                    try driver.offer(hosted.map(\.offer), in: network)
                } catch {
                    self.logs[.services].error("the services of this device cannot be announced: \(error)")
                }
            }
            return offered
        }
        // One that was removed meanwhile may own something that comes back here when it goes: let it go outside.
        withExtendedLifetime(offered) {}
    }
}

extension HostedService {
    /// What others are told of it.
    var offer: ServiceOffer {
        ServiceOffer(
            path: self.service.path,
            version: self.service.version,
            isRunning: self.state == .running,
            actions: self.actions.map { action in
                ActionOffer(
                    name: action.name,
                    isIdempotent: action.options.isIdempotent,
                    streams: action is any StreamingServiceAction
                )
            }
        )
    }

    /// - Throws: ``RunarError`` when others cannot be told of it.
    func checkOffer() throws(RunarError) {
        do throws(WireError) {
            try Announcement.check([self.offer])
        } catch {
            throw .failure(.invalidParameters, message: error.description, context: self.service.path)
        }
    }
}

extension PayloadEncoding {
    /// What it is called on the way.
    var contentType: ContentType {
        switch self {
        case .json: .json
        case .messagePack: .messagePack
        case .cbor: .cbor
        }
    }
}

extension ContentType {
    /// How values are written, if they are values.
    var encoding: PayloadEncoding? {
        switch self {
        case .json: .json
        case .messagePack: .messagePack
        case .cbor: .cbor
        case .none, .bytes: nil
        }
    }
}

extension EncodedAnswer {
    var contentType: ContentType { self.encoding.map(\.contentType) ?? (self.bytes.isEmpty ? .none : .bytes) }
}
