internal import Concurrency
package import Identity
internal import NodeCore
package import Services
internal import Transport

// Requests to services: one stream each, header and body in one piece, the response on the same stream.
extension NodeDriver {
    /// How many providers are asked one after another for one request.
    private static let attemptLimit = 8

    /// A stream that was opened for a request, in one round under the lock.
    struct Opening: Sendable {
        let peer: PeerId
        var isIdempotent = false
        let stream: any Stream
        let number: Int
        let route: Route
        let end: RequestEnd
    }

    // MARK: - Offers

    /// Offers these services to the members of the network from now on, and no others.
    ///
    /// - Throws: what is wrong with them; then nothing changes.
    package func offer(_ offers: [ServiceOffer], in network: NetworkId) throws(WireError) {
        try Announcement.check(offers)
        self.apply(.services(.offered(network, offers)))
    }

    /// The connected members that offer a service, whether it runs or not.
    package func providers(of servicePath: String, in network: NetworkId) -> [PeerId] {
        self.state.withLock { $0.core.providers(of: servicePath, in: network) }
    }

    /// What a connected member offers.
    package func offers(of peer: PeerId, in network: NetworkId) -> [ServiceOffer] {
        self.state.withLock { $0.core.offers(of: peer, in: network) }
    }

    /// What each connected member offers that offers something.
    package func offers(in network: NetworkId) -> [PeerId: [ServiceOffer]] {
        let offers = self.state.withLock { $0.core.offers(in: network) }
        return Dictionary(offers.map { ($0.peer, $0.offers) }) { first, _ in first }
    }

    // MARK: - Requests

    /// Sends a request and returns the type and the bytes of the response.
    ///
    /// Without a `peer` those who offer the action take turns. When one of them cannot be reached, has no room, or goes
    /// before it answered, the next one is asked; the last of these only if the request or the action is idempotent.
    ///
    /// - Throws: ``ServiceFailure`` when a provider, or the want of one, decided how the request ended; ``NodeError`` when
    ///   there was no way to the provider or the connection broke; `CancellationError` when cancelled.
    package func request(
        _ header: RequestHeader,
        body: [UInt8],
        in network: NetworkId,
        to peer: PeerId? = nil
    ) async throws -> (ContentType, [UInt8]) {
        guard body.count <= self.configuration.messageByteLimit else {
            throw ServiceFailure(
                kind: .tooLarge,
                message: "a request of \(body.count) bytes, at most \(self.configuration.messageByteLimit) are allowed"
            )
        }
        var header = header
        header.streamsBody = false
        let start = self.configuration.clock.now().monotonic
        return try await self.tracing(header, in: network, to: peer) { header in
            try await self.attempting(header, in: network, to: peer, movesOn: true) { request, header, prefix in
                try await request.begin(header, prefix, body: body)
                let bytes = try await request.body()
                self.configuration.metrics?.noteAnswer(
                    bytes.count,
                    to: body.count,
                    from: request.peer,
                    in: network,
                    since: start
                )
                return (try await request.response(), bytes)
            }
        }
    }

    /// Opens a request whose body, or whose response, is a sequence of items.
    ///
    /// - Throws: as ``request(_:body:in:to:)``, as far as it is known before the first item.
    package func openRequest(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId? = nil
    ) async throws -> OutgoingRequest {
        try await self.tracing(header, in: network, to: peer) { header in
            try await self.attempting(header, in: network, to: peer) { request, header, prefix in
                try await request.begin(header, prefix, body: [])
                return request
            }
        }
    }

    /// Gives a request a span where somebody traces.
    private func tracing<Result>(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        _ body: (RequestHeader) async throws -> Result
    ) async throws -> Result {
        guard let tracing = self.configuration.tracing else { return try await body(header) }
        return try await tracing.sending(header, in: network, to: peer, body)
    }

    /// Tries one provider after another; if it `movesOn` also when one that was asked may be gone.
    private func attempting<Result: Sendable>(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        movesOn: Bool = false,
        _ body: (OutgoingRequest, RequestHeader, _ prefix: [UInt8]) async throws -> Result
    ) async throws -> Result {
        do {
            try header.check()
        } catch {
            throw ServiceFailure(kind: .protocolViolation, message: error.description)
        }
        let deadline = self.configuration.clock.now().monotonic + min(header.timeLimit, RequestHeader.longestTimeLimit)
        var header = header
        var tried: [PeerId] = []
        var lastFailure: (any Error)?
        while true {
            let opening: Opening
            do {
                opening = try await self.open(header.path, deadline, in: network, to: peer, excluding: tried)
            } catch let failure as ServiceFailure where failure.kind == .unreachable {
                throw lastFailure ?? failure
            }
            if lastFailure != nil { header.timeLimit = deadline - self.configuration.clock.now().monotonic }
            let isIdempotent = header.isIdempotent || opening.isIdempotent
            if movesOn, peer == nil, isIdempotent { self.letMove(opening, header.path, tried) }
            let request = OutgoingRequest(self, opening)
            let prefix = StreamHeader(kind: .request, networkIndex: opening.route.index).bytes
            do {
                return try await body(request, header, prefix)
            } catch {
                tried.append(opening.peer)
                guard peer == nil, tried.count < Self.attemptLimit,
                    Self.mayAskAnother(after: error, isIdempotent)
                else { throw error }
                lastFailure = error
            }
        }
    }

    /// Whether the same request may go to another provider.
    private static func mayAskAnother(after error: any Error, _ isIdempotent: Bool) -> Bool {
        switch error {
        case let failure as ServiceFailure: failure.kind.isBeforeHandling
        case is NodeError: isIdempotent
        default: false
        }
    }

    /// Lets a request go to somebody else as soon as its peer is suspected to be gone.
    private func letMove(_ opening: Opening, _ path: String, _ tried: [PeerId]) {
        let id = opening.route.connection
        self.state.withLock { state in
            let probeAt = self.configuration.clock.now().monotonic + TrackedRequest.Alternative.probePause
            let alternative = TrackedRequest.Alternative(path: path, tried: tried + [opening.peer], probeAt: probeAt)
            self.requestTimer.arm(probeAt)
            state.connections.setAlternative(alternative, of: opening.number, on: id)
            if state.core.isSuspect(id) { self.moveRequests(from: id, in: &state) }
        }
    }

    /// Gives up those requests on a connection that somebody else can answer; each is tried anew with the next provider.
    func moveRequests(from id: ConnectionId, in state: inout State) {
        state.connections.cancelRequests(on: id) { alternative, network in
            state.core.hasProvider(of: alternative.path, in: network, excluding: alternative.tried)
        }
    }

    /// Opens a stream to the peer, or to whoever's turn it is, connecting to it if need be.
    private func open(
        _ path: String,
        _ deadline: Duration,
        in network: NetworkId,
        to peer: PeerId?,
        excluding tried: [PeerId]
    ) async throws -> Opening {
        if let peer { return try await self.reachAndOpen(peer, deadline, in: network) }
        do {
            return try self.openConnected(path, deadline, in: network, excluding: tried)
        } catch let failure as ServiceFailure {
            return try await self.openElsewhere(path, deadline, in: network, excluding: tried, orThrow: failure)
        }
    }

    /// Opens a stream to a peer, connecting to it if need be.
    func reachAndOpen(_ peer: PeerId, _ deadline: Duration, in network: NetworkId) async throws -> Opening {
        func openNow() throws -> Opening? {
            try self.opening(in: network) { state in self.open(to: peer, deadline, in: network, &state) }
        }
        if let opening = try openNow() { return opening }
        try await self.within(deadline, orThrow: ServiceFailure(kind: .deadline)) {
            try await self.reach(peer, in: network)
        }
        guard let opening = try openNow() else {
            throw NodeError.interrupted(peer, "the connection just ended")
        }
        return opening
    }

    /// Opens a stream to the connected provider whose turn it is.
    ///
    /// - Throws: ``ServiceFailure`` if no connected member can be asked.
    func openConnected(
        _ path: String,
        _ deadline: Duration,
        in network: NetworkId,
        excluding tried: [PeerId]
    ) throws -> Opening {
        try self.opening(in: network) { state in
            var excluded = tried
            while true {
                let provider = try state.core.provider(of: path, in: network, excluding: excluded).get()
                if var opening = self.open(to: provider.peer, deadline, in: network, &state) {
                    opening.isIdempotent = provider.isIdempotent
                    return opening
                }
                // Its connection just ended, of which the core will hear.
                excluded.append(provider.peer)
            }
        }
    }

    /// Calls `body` under the lock of a node that runs and belongs to the network.
    private func opening<Result>(in network: NetworkId, _ body: (inout State) throws -> Result) throws -> Result {
        try self.state.withLock { state throws -> Result in
            guard state.lifecycle.isRunning else { throw NodeError.notRunning }
            guard state.core.isMember(of: network) else { throw NodeError.notAMember(network) }
            return try body(&state)
        }
    }

    /// Opens a stream to a peer; nil when there is no connection.
    private func open(
        to peer: PeerId,
        _ deadline: Duration,
        in network: NetworkId,
        _ state: inout State
    ) -> Opening? {
        guard let route = state.core.route(to: peer, in: network),
            let connection = state.connections[route.connection]?.connection,
            let stream = try? connection.openStream()  // the connection just ended, and the core will hear of it
        else { return nil }
        let end = RequestEnd()
        let request = TrackedRequest(end: end, deadline: deadline, isOurs: true)
        guard let number = self.track(stream, network, on: route.connection, request, in: &state) else { return nil }
        return Opening(peer: peer, stream: stream, number: number, route: route, end: end)
    }
}
