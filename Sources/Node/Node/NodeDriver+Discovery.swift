internal import Concurrency
internal import Discovery
package import Identity
internal import Logging
internal import NodeCore
internal import Platform
internal import Transport

// The local network, on which members are heard without an address being typed.
extension NodeDriver {
    /// Looks for members on `link` from now on, unless discovery is on.
    package func startDiscovery(on link: any DiscoveryLink) {
        let hasStarted = self.state.withLock { state in
            guard !state.lifecycle.isStopped, state.localNetwork.startDiscovery(on: link) else { return false }
            for network in state.core.networks { self.configuration.metrics?.noteSearchStart(in: network) }
            self.jobs.add(.discover(link))
            self.apply(.discovery(.started), to: &state)
            return true
        }
        // A link without a reader is closed when it is released.
        if !hasStarted { self.configuration.logs[.discovery].debug("discovery is on already, or the node stops") }
    }

    /// Announces the end to the local network, and sends nothing more there.
    package func stopDiscovery() async {
        let link = self.state.withLock { state -> (any DiscoveryLink)? in
            guard state.localNetwork.discoveryLink != nil else { return nil }
            self.apply(.discovery(.stopped), to: &state)
            return state.localNetwork.stopDiscovery()
        }
        self.configuration.metrics?.noteSearchEnd()
        await link?.close()
    }

    /// Feeds the core what is heard and where this node can be dialled, until the link is closed.
    func discover(on link: any DiscoveryLink) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followAddresses(of: link) }
            for await datagram in link.datagrams {
                self.apply(.discovery(.datagramReceived(datagram.bytes, from: datagram.source)))
            }
        }
    }

    /// Follows this machine's addresses while others are not looked for; `link` is asked for nothing else.
    package func watchAddresses(of link: any DiscoveryLink) {
        self.state.withLock { state in
            guard !state.lifecycle.isStopped, state.localNetwork.watchAddresses(of: link) else { return }
            self.jobs.add(.followAddresses(link))
        }
    }

    /// Tells the core where this node can be dialled, and connections that their ways may have changed.
    func followAddresses(of link: any DiscoveryLink) async {
        for await addresses in link.localAddresses {
            self.endpoint.networkChanged()
            self.apply(.addressesChanged(addresses))
        }
    }

    func carryOut(_ effect: Discovery.HostEffect, in state: inout State) {
        switch effect {
        case .multicast(let bytes): state.localNetwork.discoveryLink?.send(bytes)
        case .ignored(let reason, let source, let count):
            self.configuration.logs[.discovery].debug("\(count) datagrams from \(source) ignored: \(reason)")
        }
    }

    /// The members of a network that are heard on the local network at this moment, ascending.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        self.state.withLock { $0.core.heardPeers(in: network) }
    }

    /// Whether members are looked for on the local network.
    package var isDiscovering: Bool { self.state.withLock { $0.localNetwork.discoveryLink != nil } }

    /// The names of the interfaces on which they are looked for at this moment.
    package var discoveryInterfaces: [String] {
        self.state.withLock { $0.localNetwork.discoveryLink }?.interfaceNames ?? []
    }
}
