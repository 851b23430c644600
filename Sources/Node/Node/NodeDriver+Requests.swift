internal import Concurrency
package import Identity
internal import NodeCore
package import Services
internal import Transport

// Requests to services: one stream each, header and body in one piece, the response on the same stream.
extension NodeDriver {
    // MARK: - Offers

    /// Offers these services to the members of the network from now on, and no others.
    ///
    /// - Throws: ``WireError`` for an invalid offer; then nothing changes.
    package func offer(_ offers: [ServiceOffer], in network: NetworkId) throws(WireError) {
        try Announcement.check(offers)
        apply(.services(.offered(network, offers)))
    }

    /// The offers of all connected members that have some.
    package func offers(in network: NetworkId) -> [PeerId: [ServiceOffer]] {
        let offers = state.withLock { $0.core.offers(in: network) }
        return Dictionary(offers.map { ($0.peer, $0.offers) }) { first, _ in first }
    }

    // MARK: - Requests

    /// Sends a request and returns the type and the bytes of the response.
    ///
    /// Without a `peer` the providers of the action are selected round-robin. The request moves to the next one when a
    /// provider cannot be reached, has no room, or disconnects before it responded; the last only if the request or the
    /// action is idempotent.
    ///
    /// - Throws: ``ServiceFailure`` from a provider, or for want of one; ``NodeError`` when the provider cannot be reached
    ///   or the connection broke; `CancellationError` when cancelled.
    package func request(
        _ header: RequestHeader,
        body: [UInt8],
        in network: NetworkId,
        to peer: PeerId? = nil
    ) async throws -> (ContentType, [UInt8]) {
        guard body.count <= configuration.limits.messageBytes else {
            throw ServiceFailure(
                kind: .tooLarge,
                message:
                    "a request of \(body.count) bytes, at most \(configuration.limits.messageBytes) are allowed"
            )
        }
        var header = header
        header.streamsBody = false
        let start = now
        return try await tracing(header, in: network, to: peer) { header in
            try await attempting(header, in: network, to: peer, movesOn: true) { request, header, prefix in
                try await request.begin(header, prefix, body: body)
                let bytes = try await request.body()
                configuration.metrics?.noteAnswer(
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

    /// Opens a request with a sequence of items as its body or response.
    ///
    /// - Throws: as ``request(_:body:in:to:)``, as far as it is known before the first item.
    package func openRequest(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId? = nil
    ) async throws -> OutgoingRequest {
        try await tracing(header, in: network, to: peer) { header in
            try await attempting(header, in: network, to: peer) { request, header, prefix in
                try await request.begin(header, prefix, body: [])
                return request
            }
        }
    }

    /// Gives a request a span if it is traced.
    private func tracing<Result>(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        _ body: (RequestHeader) async throws -> Result
    ) async throws -> Result {
        guard let tracing = configuration.tracing else { return try await body(header) }
        return try await tracing.sending(header, in: network, to: peer, body)
    }

    private func attempting<Result: Sendable>(
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        movesOn: Bool = false,
        _ body: (OutgoingRequest, RequestHeader, _ prefix: [UInt8]) async throws -> Result
    ) async throws -> Result {
        var attempts = try RequestAttempts(self, header, in: network, to: peer, movesOn: movesOn)
        return try await attempts.run(body)
    }

    // MARK: - Streams of requests

    /// Permits a request to move to another provider as soon as its peer is suspected to have left.
    func letMove(_ opened: RequestStream, _ path: RequestPath, _ tried: [PeerId]) {
        let id = opened.route.connection
        state.withLock { state in
            let probeAt = now + TrackedRequest.Alternative.probePause
            let alternative = TrackedRequest.Alternative(path: path, tried: tried + [opened.peer], probeAt: probeAt)
            requestTimer.arm(probeAt)
            state.connections.setAlternative(alternative, of: opened.number, on: id)
            if state.core.isSuspect(id) { moveRequests(from: id, in: &state) }
        }
    }

    /// Cancels the requests on a connection that another provider can answer, which makes each move to it.
    func moveRequests(from id: ConnectionId, in state: inout State) {
        state.connections.cancelRequests(on: id) { alternative, network in
            state.core.hasProvider(of: alternative.path, in: network, excluding: alternative.tried)
        }
    }

    /// Opens a stream to a peer, connecting to it if need be.
    func reachAndOpen(_ peer: PeerId, _ deadline: Duration, in network: NetworkId) async throws -> RequestStream {
        func openNow() throws -> RequestStream? {
            try opening(in: network) { state in self.open(to: peer, deadline, in: network, &state) }
        }
        if let opening = try openNow() { return opening }
        try await within(deadline, orThrow: ServiceFailure(kind: .deadline)) {
            try await self.reach(peer, in: network)
        }
        guard let opening = try openNow() else {
            throw NodeError.interrupted(peer, "the connection just ended")
        }
        return opening
    }

    /// Opens a stream to the next connected provider.
    ///
    /// - Throws: ``ServiceFailure`` if no connected provider can respond.
    func openConnected(
        _ path: RequestPath,
        _ deadline: Duration,
        in network: NetworkId,
        excluding tried: [PeerId]
    ) throws -> RequestStream {
        try opening(in: network) { state in
            var excluded = tried
            while true {
                let provider = try state.core.provider(of: path, in: network, excluding: excluded).get()
                if var opening = self.open(to: provider.peer, deadline, in: network, &state) {
                    opening.isIdempotent = provider.isIdempotent
                    return opening
                }
                // Its connection just ended, of which the core is notified soon.
                excluded.append(provider.peer)
            }
        }
    }

    /// Calls `body` under the lock of a node that runs and belongs to the network.
    private func opening<Result>(in network: NetworkId, _ body: (inout State) throws -> Result) throws -> Result {
        try state.withLock { state throws -> Result in
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
    ) -> RequestStream? {
        guard let route = state.core.route(to: peer, in: network),
            let connection = state.connections[route.connection]?.connection,
            let stream = try? connection.openStream()  // the connection just ended, and the core is notified soon
        else { return nil }
        let end = RequestEnd()
        let request = TrackedRequest(end: end, deadline: deadline, isOurs: true)
        guard let number = track(stream, network, on: route.connection, request, in: &state) else { return nil }
        return RequestStream(peer: peer, stream: stream, number: number, route: route, end: end)
    }

    // MARK: - Providers without a connection

    /// The peers that are neither this node nor connected peers with offers.
    func withoutOffers(_ peers: [PeerId], in network: NetworkId) -> [PeerId] {
        state.withLock { state in
            peers.filter { $0 != localPeerId && state.core.offers(of: $0, in: network).isEmpty }
        }
    }

    /// Whether the hash table just had no provider of a service.
    func isMissing(_ service: String, in network: NetworkId) -> Bool {
        let now = self.now
        return state.withLock { $0.missingServices.contains(service, in: network, at: now) }
    }

    /// Notes that the hash table has no provider of a service.
    func noteMissing(_ service: String, in network: NetworkId) {
        let now = self.now
        state.withLock { $0.missingServices.add(service, in: network, at: now) }
    }
}
