internal import Identity
internal import Node
internal import RunarNode

// A node that starts for one command has nobody yet to ask or to tell.
extension RequestHandler {
    /// Members that are near or remembered are connected well within this; nobody waits longer for those who are not.
    private static let patience = Duration.seconds(3)

    /// Waits until the peers that a request needs are connected, for a few seconds at most.
    func wait(for company: Company) async {
        guard node.isRunning, let isThere = isThere(company) else { return }
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
    private func isThere(_ company: Company) -> (@Sendable () -> Bool)? {
        let node = node
        switch company {
        case .nobody: return nil
        case .everybody: return { false }
        case .peer(let name):
            guard let peer = try? resolve(name) else { return nil }  // the request says why
            return { node.connectedPeers().contains(peer) }
        case .member(nil): return { !node.connectedPeers().isEmpty }
        case .member(let name?): return isAnybodyThere(in: name)
        case .memberOfOne(let name): return isAnybodyThere(in: name)
        case .exchange(let name):
            guard let network = try? resolve(name).networkId else { return nil }  // the request says why
            return { !node.isIsolated(networkId: network) }
        }
    }

    private func isAnybodyThere(in name: NetworkName?) -> (@Sendable () -> Bool)? {
        guard let network = try? resolve(name).networkId else { return nil }  // the request says why
        return { [node] in !node.connectedPeers(in: network).isEmpty }
    }

    /// Nobody who cannot be told of is an answer too.
    private var isAnybodyKnown: Bool { (try? node.knownPeers().isEmpty) == false }  // see above
}
