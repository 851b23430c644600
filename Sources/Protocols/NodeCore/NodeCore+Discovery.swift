internal import Discovery
package import Identity
internal import Kademlia
internal import OrderedCollections

// Who is heard on the local network.
extension NodeCore {
    mutating func handle(_ input: DiscoveryInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .started: self.tellDiscovery(.started, now, &effects)
        case .stopped: self.tellDiscovery(.stopping, now, &effects)
        case .datagramReceived(let bytes, let source):
            self.tellDiscovery(.datagramReceived(bytes, from: source), now, &effects)
        }
    }

    /// Feeds discovery and carries out what it wants.
    mutating func tellDiscovery(_ input: Discovery.Input, _ now: NodeTime, _ effects: inout [Effect]) {
        self.run(input, of: (), in: \.protocols.discovery, now, &effects) { core, effect, _, effects in
            core.carryOut(effect, now, &effects)
        }
    }

    private mutating func carryOut(_ effect: Discovery.Effect, _ now: NodeTime, _ effects: inout [Effect]) {
        switch effect {
        case .wake(let time):
            self.protocols.discovery.wake(at: time)
            self.timers.arm(time, &effects)
        case .peerHeard(let peer, let network, let addresses):
            self.heard(peer, in: network, at: addresses, now, &effects)
        case .peerLost(let peer, let network): self.lost(peer, in: network, &effects)
        case .deviceKeyUsedTwice(let peer, _): effects.append(.membership(.deviceKeyUsedTwice(peer)))
        case .host(let effect): effects.append(.discovery(effect))
        }
    }

    /// Says in a network who this node is, or asks for its member secret.
    mutating func announce(_ network: NetworkId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let membership = self.memberships[network], !membership.isExpired else { return }
        if let secrets = membership.secrets {
            self.tellDiscovery(.networkAdded(membership.token, secrets), now, &effects)
        } else if let key = membership.rendezvous {
            self.tellDiscovery(.networkKnown(membership.token, key), now, &effects)
        }
    }

    mutating func rendezvousLearnt(
        _ network: NetworkId,
        _ key: RendezvousKey,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.memberships[network] != nil else { return }
        self.memberships[network]?.rendezvous = key
        self.announce(network, now, &effects)
    }

    private mutating func heard(
        _ peer: PeerId,
        in network: NetworkId,
        at addresses: [SocketAddress],
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let membership = self.memberships[network], !membership.revocations.contains(peer),
            peer != self.configuration.peerId
        else { return }
        if membership.heard[peer] != addresses {
            self.memberships[network]?.heard[peer] = addresses
            effects.append(.peer(.discovered(peer, network, addresses)))
        }
        self.remember(peer, networks: [network], addresses: addresses, now, &effects)
        self.seek(peer, now, &effects)
    }

    private mutating func lost(_ peer: PeerId, in network: NetworkId, _ effects: inout [Effect]) {
        guard self.memberships[network]?.heard.removeValue(forKey: peer) != nil else { return }
        effects.append(.peer(.lost(peer, network)))
    }

    /// The peers that are heard on the local network at present, ascending, and where they can be dialled.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        guard let heard = self.memberships[network]?.heard else { return [] }
        return heard.keys.sorted().map { ($0, heard[$0] ?? []) }
    }
}
