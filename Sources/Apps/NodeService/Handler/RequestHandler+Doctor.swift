internal import Identity
package import RunarNode
internal import Traversal

// What the doctor asks of the node.
extension RequestHandler {
    func facts(about name: PeerName?) async throws -> NodeFacts {
        let observations = node.natObservations
        return NodeFacts(
            isRunning: node.isRunning,
            addresses: node.listenAddresses.map(\.description),
            isDiscovering: node.discoveryService.isRunning,
            renewsTokens: try settings.isOn(.renewTokens),
            networks: try node.membershipStates().map { NodeFacts.Network($0) },
            peers: node.connectedPeers().map {
                NodeFacts.Peer(peerIdText: $0.text, isRelayed: node.path(to: $0)?.isRelayed ?? false)
            },
            mapping: observations.map { "\($0.mapping)" } ?? "unknown",
            isMappingProven: observations?.isProven ?? false,
            filtering: (await node.filtering()).map(\.word),
            observed: observations?.addresses.map(\.description) ?? [],
            peer: try name.map { try facts(of: resolve($0)) }
        )
    }

    /// With the last attempt to reach it, or with all that is remembered.
    func facts(of peer: PeerId, isWhole: Bool = false) throws -> PeerFacts {
        let history = node.pathHistory(of: peer)
        let known = try node.knownPeers().first { $0.peerId == peer }
        let isHeard = { [node] (network: NetworkId) in
            node.discoveryService.getDiscoveredPeers(for: network).contains { $0.peerId == peer }
        }
        let networks = try node.networks().filter {
            known?.networks.contains($0.networkId) == true || node.connectedPeers(in: $0.networkId).contains(peer)
                || isHeard($0.networkId)
        }
        let path = node.path(to: peer)
        return PeerFacts(
            peerIdText: peer.text,
            label: known?.label,
            networks: networks.map { $0.name ?? $0.networkId.short },
            isConnected: node.connectedPeers().contains(peer),
            isRelayed: path?.isRelayed ?? false,
            path: path.map { "\($0)" },
            lastSeen: known?.lastSeen.map(UnixTime.clampedSeconds),
            isNearby: networks.contains { isHeard($0.networkId) },
            addresses: try node.knownAddresses(of: peer).map(\.description),
            history: isWhole ? history.map { PeerFacts.Step($0) } : PeerFacts.Step.lastAttempt(in: history)
        )
    }
}

extension FilteringBehaviour {
    /// A stable word.
    fileprivate var word: String {
        switch self {
        case .endpointIndependent: "endpointIndependent"
        case .endpointDependent: "endpointDependent"
        case .unknown(.nobodyToAsk): "unknown: nobody to ask"
        case .unknown(.noStranger): "unknown: no stranger"
        case .unknown(.noAnswer): "unknown: no answer"
        }
    }
}

extension NodeFacts.Network {
    package init(_ state: MembershipState) {
        self.init(
            name: state.name ?? state.networkId.short,
            networkId: state.networkId.base64Encoded,
            isOwner: state.isOwner,
            isMember: state.token != nil,
            expiration: state.token?.expirationSeconds,
            isRevoked: state.isRevoked,
            latestSigned: state.latestSignedSeconds
        )
    }
}
