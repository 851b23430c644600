internal import Concurrency
internal import Discovery
package import Identity
internal import Logging
internal import NodeCore
internal import Platform
internal import Transport

// The local network, on which members are heard without an address being typed.
extension NodeDriver {
    /// Looks for members on `link` from now on, in place of an earlier one.
    package func startDiscovery(on link: any DiscoveryLink) {
        let isOver = self.state.withLock { state in
            guard !state.lifecycle.isStopped, state.link == nil else { return true }
            state.link = link
            self.beginMeasuringSearch(in: state.core.networks)
            self.jobQueue.yield(.discover(link))
            self.apply(.discovery(.started), to: &state)
            return false
        }
        // Nobody will ever read from it; letting go of it closes it.
        if isOver { self.configuration.logs[.discovery].debug("discovery is on already, or the node stops") }
    }

    /// Says goodbye to whoever listens on the local network, and falls silent there.
    package func stopDiscovery() async {
        let link = self.state.withLock { state -> (any DiscoveryLink)? in
            guard let link = state.link else { return nil }
            self.apply(.discovery(.stopped), to: &state)
            state.link = nil
            return link
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
            guard !state.lifecycle.isStopped, state.addressWatch == nil else { return }
            state.addressWatch = link
            self.jobQueue.yield(.watch(link))
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
        case .multicast(let bytes): state.link?.send(bytes)
        case .ignored(let reason, let source, let count):
            self.configuration.logs[.discovery].debug("\(count) datagrams from \(source) ignored: \(reason)")
        }
    }

    /// The members of a network that are heard on the local network at this moment, ascending.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        self.state.withLock { $0.core.heardPeers(in: network) }
    }

    /// Whether members are looked for on the local network.
    package var isDiscovering: Bool { self.state.withLock { $0.link != nil } }

    /// The names of the interfaces on which they are looked for at this moment.
    package var discoveryInterfaces: [String] { self.state.withLock { $0.link }?.interfaceNames ?? [] }
}
