package import CommandModel
internal import Concurrency
package import Foundation
internal import Identity
internal import Node
package import RunarNode
internal import SealedMessages

// Services: listing, requests, and services that another process answers.
extension RequestHandler {
    /// The time limit for a peer's list of offers.
    private static let listPatience = Duration.seconds(5)
    /// The number of requests that wait for the process that answers them.
    private static let callBuffer = 1024

    package func services(of peer: PeerName?, in name: NetworkName?) async throws -> ServicesReport {
        let network = try resolve(name).networkId
        let peers = try peer.map { [try resolve($0, in: network)] } ?? [node.peerId] + node.connectedPeers(in: network)
        let labels = Dictionary(
            uniqueKeysWithValues: try node.knownPeers().compactMap { known in known.label.map { (known.peerId, $0) } }
        )
        var found: [PeerId: [RunarServiceInfo]] = [:]
        await withTaskGroup(of: (PeerId, [RunarServiceInfo]?).self) { group in
            for peer in peers { group.addTask { (peer, await self.list(of: peer, in: network)) } }
            for await (peer, services) in group { found[peer] = services }
        }
        let services = peers.flatMap { peer in
            // A registry lists offers of others, too, without a time; those are in their own lists.
            (found[peer] ?? []).filter { !$0.servicePath.hasPrefix("$") && $0.registeredAt != nil }.map { service in
                ServicesReport.Offer(
                    peerId: peer.base64Encoded,
                    label: labels[peer],
                    isOwn: peer == node.peerId,
                    service: service
                )
            }
        }
        return ServicesReport(services: services, silent: peers.filter { found[$0] == nil }.map(\.base64Encoded))
    }

    /// The services of one peer, without those of others that its registry lists.
    private func list(of peer: PeerId, in network: NetworkId) async -> [RunarServiceInfo]? {
        var options = RequestOptions(timeout: Self.listPatience, isIdempotent: true)
        options.peer = peer == node.peerId ? nil : peer
        let path = "\(network.base64Encoded):$registry/services/list"
        let known: [RunarServiceInfo]? =
            try? await node.request(path, payload: Data?.none, options: options)  // silent, and shown as that
        // A time that is none would be shown as one.
        return known?.filter { service in
            service.registeredAt?.timeIntervalSince1970.isFinite == true
                && service.startedAt?.timeIntervalSince1970.isFinite != false
        }
    }

    package func call(_ order: ServiceCall) async throws -> CalledReport {
        let network = try resolve(order.network).networkId
        let options = RequestOptions(
            timeout: order.timeout,
            isIdempotent: order.isIdempotent,
            peer: try order.peer.map { try resolve($0, in: network) }
        )
        let path = "\(network.base64Encoded):\(order.path)"
        let answer: Data = try await node.requestRaw(path, payload: order.payload, options: options)
        return CalledReport(path: order.path, answer: answer)
    }

    /// Offers a service until the request for it is cancelled.
    package func serve(_ serving: ServingForm, _ tell: @escaping Tell) async throws {
        let network = try resolve(serving.network.map { NetworkName(form: $0) })
        guard network.isMember else { throw NodeError.notAMember(network.networkId) }
        let (updates, continuation) = AsyncStream.makeStream(
            of: NodeUpdate.self,
            bufferingPolicy: .bufferingOldest(Self.callBuffer)
        )
        let service = RunarService(
            name: serving.name,
            path: serving.path,
            version: serving.version,
            description: serving.description
        )
        service.networkId = network.networkId.base64Encoded
        let served = ServedCalls()
        for action in serving.actions {
            service.registerRawAction(action) { [calls] request in
                try await Self.pass(request, of: action, to: continuation, calls, served)
            }
        }
        let path = "\(network.networkId.base64Encoded):\(serving.path)"
        try await node.addService(service)
        let ready = ServingReport(
            path: serving.path,
            networkId: network.networkId.base64Encoded,
            networkName: network.name ?? network.networkId.short,
            actions: serving.actions
        )
        await tell(.serving(ready))
        for await update in updates { await tell(update) }
        // The other process has disconnected: neither these requests nor later ones get an answer.
        served.end()
        try await node.removeService(path)
    }

    /// Passes a request to the other process and waits for its answer.
    ///
    /// - Throws: ``RunarError``, ``RunarErrorCode/serviceNotRunning`` once that process has disconnected;
    ///   `CancellationError`.
    static func pass(
        _ request: RunarRequest,
        of action: String,
        to updates: AsyncStream<NodeUpdate>.Continuation,
        _ pendingRequests: PendingRequests<CallAnswer>,
        _ served: ServedCalls
    ) async throws -> Data {
        let (answers, continuation) = AsyncStream.makeStream(of: CallAnswer.self)
        let number = pendingRequests.add { continuation.yield($0) }
        defer {
            served.remove(number)
            pendingRequests.remove(number)
        }
        guard served.add(number, ending: { continuation.finish() }) else { throw ServedCalls.gone(request.path) }
        let report = CallReport(
            number: number,
            action: action,
            path: request.path,
            peerId: request.peer?.base64Encoded,
            payload: request.payload
        )
        switch updates.yield(.called(report)) {
        case .enqueued: break
        case .dropped:
            throw RunarError.failure(.busy, message: "too many requests wait for the program that answers them")
        case .terminated: throw ServedCalls.gone(request.path)
        @unknown default: throw ServedCalls.gone(request.path)
        }
        for await answer in answers {
            switch answer {
            case .result(let bytes): return bytes
            case .failure(let why): throw RunarError.failure(.handlerFailed, message: why, context: request.path)
            }
        }
        guard Task.isCancelled else { throw ServedCalls.gone(request.path) }
        updates.yield(.callEnded(number))
        throw CancellationError()
    }
}

/// A request to a service.
package struct ServiceCall: Sendable {
    /// The service, a slash and the action.
    let path: String
    let network: NetworkName?
    /// JSON, or nothing.
    let payload: Data
    /// The peer to ask; nil for any that offers the service.
    let peer: PeerName?
    let timeout: Duration?
    let isIdempotent: Bool

    package init(
        path: String,
        network: NetworkName?,
        payload: Data,
        peer: PeerName?,
        timeout: Duration?,
        isIdempotent: Bool
    ) {
        self.path = path
        self.network = network
        self.payload = payload
        self.peer = peer
        self.timeout = timeout
        self.isIdempotent = isIdempotent
    }
}

// Events: publishing, and updates for a subscriber.
extension RequestHandler {
    /// The time in which members must confirm the event of a node that is about to end.
    private static let drainPatience = Duration.seconds(10)

    package func publish(_ event: Data, to topic: String, in network: NetworkName?) async throws -> PublishedReport {
        let network = try resolve(network)
        try await node.publish(networkId: network.networkId, topic: topic, message: event)
        let isIsolated = node.isIsolated(networkId: network.networkId)
        if isPassing {
            guard !isIsolated else {
                throw CommandFailure(
                    "no-member-connected",
                    .unavailable,
                    "no member is connected to receive the event, and this command ends: with `runar up` a node keeps"
                        + " it for half an hour for members that connect"
                )
            }
            await waitForOthers(in: network.networkId)
        }
        return PublishedReport(
            networkId: network.networkId.base64Encoded,
            topic: topic,
            bytes: event.count,
            isIsolated: isIsolated
        )
    }

    /// Queries the members: each receives earlier messages before the query, so its answer confirms them.
    private func waitForOthers(in network: NetworkId) async {
        let policy = DHTPolicy(deadline: Self.drainPatience)
        let key = Data("runar publish".utf8)
        _ = try? await node.dhtRecords(networkId: network, key: key, policy: policy)  // best effort
    }

    package func subscribe(
        to topic: String,
        in network: NetworkInfo,
        includesPast: Bool,
        _ tell: @escaping Tell
    ) async throws {
        let id = network.networkId
        let changes = node.eventStream
        let events = try node.events(networkId: id, topic: topic, includesPast: includesPast)
        let ready = SubscribedReport(
            networkId: id.base64Encoded,
            networkName: network.name ?? id.short,
            topic: topic,
            isIsolated: node.isIsolated(networkId: id)
        )
        await tell(.subscribed(ready))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await change in changes {
                    switch change {
                    case .eventsIsolated(id, _), .membershipEnded(id, _):
                        await tell(.event(EventReport(change)))
                    default: continue
                    }
                }
            }
            var labels: [PeerId: String?] = [:]
            for await event in events {
                let label = labels[event.publisher] ?? label(of: event.publisher)
                labels[event.publisher] = .some(label)
                await tell(.published(TopicEventReport(event, in: id, label: label)))
            }
            group.cancelAll()
        }
    }

    private func label(of peer: PeerId) -> String? {
        // Without a label the id is shown.
        (try? node.knownPeers())?.first { $0.peerId == peer }?.label  // see above
    }
}

// Updates for a listener, until its request is cancelled.
extension RequestHandler {
    /// The number of updates about files that wait for a slow listener.
    private static let updateBuffer = 256

    package func listen(_ listening: ListenForm, _ tell: @escaping Tell) async throws {
        if let directory = listening.acceptFiles { try Self.checkDirectory(directory) }
        let messages = node.listenConfirming()
        let sealed = (try? keyStores())?.listenConfirming()  // nil: the log has the reason
        let events = node.eventStream
        let (updates, continuation) = AsyncStream.makeStream(
            of: NodeUpdate.self,
            bufferingPolicy: .bufferingOldest(Self.updateBuffer)
        )
        let ask: @Sendable (FileOfferReport) -> Void = { _ = continuation.yield(.fileOffered($0)) }
        let note: @Sendable (FileProgress) -> Void = { progress in
            guard let path = progress.path else { return }
            let report = FileArrivedReport(
                peerId: progress.peer.base64Encoded,
                name: progress.name,
                bytes: progress.total,
                path: path
            )
            continuation.yield(.fileArrived(report))
        }
        let number = files.add(
            FileOffers.Listener(
                directory: listening.acceptFiles,
                ask: listening.asksAboutFiles ? ask : nil,
                settled: { number, outcome in
                    if case .answered = outcome { return }
                    let report = OfferEndedReport(number: number, isWithdrawn: outcome == .withdrawn)
                    continuation.yield(.offerEnded(report))
                },
                progress: note,
                failed: { _ = continuation.yield(.fileFailed(FileFailedReport($0))) }
            )
        )
        defer { files.remove(number) }
        let ready = ListeningReport(
            peerId: node.peerId.base64Encoded,
            addresses: node.listenAddresses.map(\.description)
        )
        await tell(.listening(ready))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await update in updates { await tell(update) }
            }
            group.addTask {
                guard let sealed else { return }
                for await (delivery, confirmation) in sealed {
                    await self.pass(MessageReport(sealed: delivery), confirmation, tell)
                }
            }
            group.addTask {
                for await event in events where listening.events {
                    await tell(.event(EventReport(event)))
                }
            }
            for await ((peer, payload), confirmation) in messages {
                await pass(MessageReport(peer: peer, payload: Array(payload)), confirmation, tell)
            }
            group.cancelAll()
        }
    }

    /// Passes a message to the listener and returns when the listener confirms it.
    ///
    /// The other messages wait in the node meanwhile, where they can expire: of each kind, at most one message is shown
    /// after its sender has learned that it was not taken.
    private func pass(_ report: MessageReport, _ confirmation: Confirmation, _ tell: Tell) async {
        let confirmed = Promise<Void>()
        let number = deliveries.add {
            confirmation.confirm()
            confirmed.fulfil(())
        }
        defer { deliveries.remove(number) }
        await tell(.message(report, delivery: number))
        try? await confirmed.wait()  // cancelled: the stream of messages ends, too
    }

    /// Checks that the directory for accepted files exists.
    package static func checkDirectory(_ path: String) throws(CommandFailure) {
        var isDirectory: ObjCBool = false
        guard path.hasPrefix("/"), unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            isDirectory.boolValue
        else {
            throw CommandFailure("no-directory", .noInput, "there is no directory \"\(path)\" for files: make it first")
        }
    }
}
