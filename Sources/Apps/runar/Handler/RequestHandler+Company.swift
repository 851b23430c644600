internal import Identity
internal import Node
internal import RunarNode

// A node that starts for one command has nobody yet to ask or to tell.
extension RequestHandler {
    /// Members that are near or remembered are connected well within this; nobody waits longer for those who are not.
    private static let patience = Duration.seconds(3)

    /// Waits until somebody is connected whom `request` needs, or long enough.
    func waitForCompany(of request: ControlRequest) async {
        guard node.isRunning, let isThere = company(of: request) else { return }
        let events = node.eventStream
        guard !isThere(), node.discoveryService.isRunning || isAnybodyKnown else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in events where isThere() { return }
            }
            group.addTask {
                try? await Task.sleep(for: Self.patience)  // cancelled when somebody is there
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether those are connected whom a request needs; nil if it needs nobody, or says itself what is wrong with it.
    private func company(of request: ControlRequest) -> (@Sendable () -> Bool)? {
        let node = node
        switch request {
        case .send(let name, _), .sendFile(let name, _):
            guard let peer = try? resolve(name) else { return nil }  // the request says why
            return { node.connectedPeers().contains(peer) }
        case .put(let key, _, _, _), .get(let key, _), .delete(let key):
            guard let network = try? resolve(key.network).networkId else { return nil }  // the same
            return { !node.connectedPeers(in: network).isEmpty }
        case .publish(_, let name, _):
            guard let network = try? resolve(name).networkId else { return nil }  // the same
            return { !node.isIsolated(networkId: network) }
        case .call(let order):
            guard let network = try? resolve(order.network).networkId else { return nil }  // the same
            return { !node.connectedPeers(in: network).isEmpty }
        // The first one who is found is not all of them.
        case .discover, .services: return { false }
        case .broadcast(let name, _):
            guard let name else { return { !node.connectedPeers().isEmpty } }
            guard let network = try? resolve(name).networkId else { return nil }  // the same
            return { !node.connectedPeers(in: network).isEmpty }
        default: return nil
        }
    }

    /// Nobody who cannot be told of is an answer too.
    private var isAnybodyKnown: Bool { (try? node.knownPeers().isEmpty) == false }  // see above
}
