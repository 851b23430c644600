internal import Concurrency
package import Foundation
internal import Identity
internal import Node
internal import RunarNode

// Services: what there is, asking, and offering what another process answers.
extension RequestHandler {
    /// How long a peer may think about what it offers.
    private static let listPatience = Duration.seconds(5)
    /// How many requests wait for the process that answers them.
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
            // A registry names what others offer, too, and of that no time: it stands in their own.
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

    /// What a peer offers itself: its registry also knows what others offer, which they are asked for.
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
        for action in serving.actions {
            service.registerRawAction(action) { [calls] request in
                try await Self.pass(request, of: action, to: continuation, calls)
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
        try await node.removeService(path)
    }

    /// Tells the other process of a request and waits for its answer.
    private static func pass(
        _ request: RunarRequest,
        of action: String,
        to updates: AsyncStream<NodeUpdate>.Continuation,
        _ desk: QuestionDesk<CallAnswer>
    ) async throws -> Data {
        let (answers, continuation) = AsyncStream.makeStream(of: CallAnswer.self)
        let number = desk.add { continuation.yield($0) }
        let report = CallReport(
            number: number,
            action: action,
            path: request.path,
            peerId: request.peer?.base64Encoded,
            payload: request.payload
        )
        guard case .enqueued = updates.yield(.called(report)) else {
            desk.remove(number)
            throw RunarError.failure(.busy, message: "too many requests wait for the program that answers them")
        }
        for await answer in answers {
            switch answer {
            case .result(let bytes): return bytes
            case .failure(let why): throw RunarError.failure(.handlerFailed, message: why, context: request.path)
            }
        }
        desk.remove(number)
        updates.yield(.callEnded(number))
        throw CancellationError()
    }
}

/// A request to a service.
package struct ServiceCall: Sendable {
    /// The service, a slash and the action.
    package let path: String
    package let network: NetworkName?
    /// JSON, or nothing.
    package let payload: Data
    /// The peer to ask; nil for any that offers the service.
    let peer: PeerName?
    package let timeout: Duration?
    let isIdempotent: Bool
}
