internal import Concurrency
package import Identity
package import Kademlia
internal import Logging
internal import NodeCore
internal import Platform
internal import Transport
package import Traversal

// Networks beyond the connections: hash tables, the local network, and the NAT of this device.
extension NodeDriver {
    // MARK: Hash tables

    /// Sends a request to a network's hash table and returns its outcome, which may be a failure.
    ///
    /// - Throws: ``NodeError/notRunning``; `CancellationError` when cancelled.
    package func performTableRequest(
        _ request: Kademlia.Request,
        in network: NetworkId,
        _ policy: Kademlia.RequestPolicy
    ) async throws -> TableAnswer {
        let id = state.withLock { $0.pending.makeTableRequestId() }
        let start = now
        defer { configuration.metrics?.note(request, since: start) }
        guard let report = configuration.tableOperations else {
            return try await performTableRequest(id, request, network, policy)
        }
        report(TableOperation(number: id.number, networkId: network, request: request, phase: .begun))
        var outcome: Kademlia.Outcome?
        defer {
            let took = now - start
            let phase = TableOperation.Phase.ended(outcome, after: took)
            report(TableOperation(number: id.number, networkId: network, request: request, phase: phase))
        }
        let answer = try await performTableRequest(id, request, network, policy)
        outcome = answer.outcome
        return answer
    }

    private func performTableRequest(
        _ id: Kademlia.RequestId,
        _ request: Kademlia.Request,
        _ network: NetworkId,
        _ policy: Kademlia.RequestPolicy
    ) async throws -> TableAnswer {
        try Task.checkCancellation()
        let answer = try state.withLock { state throws(NodeError) in
            guard !state.lifecycle.isStopped else { throw .notRunning }
            let answer = state.pending.addTableRequest(id)
            apply(.table(.requested(id, network, request, policy)), to: &state)
            return answer
        }
        return try await answer.get {
            state.withLock { state in
                guard state.pending.removeTableRequest(id) else { return }
                apply(.table(.cancelled(id)), to: &state)
            }
        }
    }

    /// The heads of all records that this node holds for a network.
    package func storedHeads(in network: NetworkId) -> [Record.Head] {
        state.withLock { $0.core.storedHeads(in: network) }
    }

    /// The members in the table of a network, the nearest first.
    package func tableRows(of network: NetworkId) -> [Kademlia.Row] {
        state.withLock { $0.core.tableRows(of: network) }
    }

    /// The health of the table of a network; nil when this node is no member.
    package func tableHealth(of network: NetworkId) -> Kademlia.Health? {
        state.withLock { $0.core.tableHealth(of: network) }
    }

    /// Answers a member that requested a new token; nil to refuse it.
    package func renew(_ request: RenewalRequest, with token: AccessToken?) {
        apply(.membership(.renewalDecided(request.connection, request.network, token)))
    }

    // MARK: The local network

    /// Looks for members on `link` from now on, unless discovery is on.
    package func startDiscovery(on link: any DiscoveryLink) {
        let hasStarted = state.withLock { state in
            guard !state.lifecycle.isStopped, state.localNetwork.startDiscovery(on: link) else { return false }
            for network in state.core.networks { configuration.metrics?.noteSearchStart(in: network) }
            jobs.add(.discover(link))
            apply(.discovery(.started), to: &state)
            return true
        }
        // A link without a reader is closed when it is released.
        if !hasStarted { configuration.logs[.discovery].debug("discovery is on already, or the node stops") }
    }

    /// Announces the end to the local network, and sends no further beacons.
    package func stopDiscovery() async {
        let link = state.withLock { state -> (any DiscoveryLink)? in
            guard state.localNetwork.discoveryLink != nil else { return nil }
            apply(.discovery(.stopped), to: &state)
            return state.localNetwork.stopDiscovery()
        }
        configuration.metrics?.noteSearchEnd()
        await link?.close()
    }

    /// Passes the datagrams of the local network and this machine's addresses to the core, until the link is closed.
    func discover(on link: any DiscoveryLink) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followAddresses(of: link) }
            for await datagram in link.datagrams {
                apply(.discovery(.datagramReceived(datagram.bytes, from: datagram.source)))
            }
        }
    }

    /// Follows this machine's addresses on `link` while discovery is off.
    package func watchAddresses(of link: any DiscoveryLink) {
        state.withLock { state in
            guard !state.lifecycle.isStopped, state.localNetwork.watchAddresses(of: link) else { return }
            jobs.add(.followAddresses(link))
        }
    }

    /// Passes this machine's addresses to the core, and notifies connections that their paths may have changed.
    func followAddresses(of link: any DiscoveryLink) async {
        for await addresses in link.localAddresses {
            endpoint.networkChanged()
            apply(.addressesChanged(addresses))
        }
    }

    /// The members of a network that currently announce themselves on the local network, ascending.
    package func heardPeers(in network: NetworkId) -> [(peer: PeerId, addresses: [SocketAddress])] {
        state.withLock { $0.core.heardPeers(in: network) }
    }

    /// Whether members are looked for on the local network.
    package var isDiscovering: Bool { state.withLock { $0.localNetwork.discoveryLink != nil } }

    /// The names of the interfaces that discovery uses at this moment.
    package var discoveryInterfaces: [String] {
        state.withLock { $0.localNetwork.discoveryLink }?.interfaceNames ?? []
    }

    /// The names of the interfaces that discovery leaves out, because there are too many.
    package var leftOutInterfaces: [String] {
        state.withLock { $0.localNetwork.discoveryLink }?.leftOutInterfaceNames ?? []
    }

    // MARK: The NAT

    /// The mapping behaviour of this device's NAT, whether it is proven, and the addresses that peers observe.
    package var natObservations: (mapping: MappingBehaviour, isProven: Bool, addresses: [SocketAddress]) {
        state.withLock { state in
            let mapping = state.core.natMapping
            return (mapping.behaviour, mapping.isProven, state.core.observedAddresses)
        }
    }

    /// Determines the filtering behaviour of this device's NAT with a second member; it takes two seconds at most.
    package func discoverFiltering() async -> FilteringBehaviour {
        let answer = state.withLock { state -> Promise<FilteringBehaviour>? in
            guard !state.lifecycle.isStopped else { return nil }
            let answer = state.pending.addFilteringTest()
            apply(.paths(.filteringRequested), to: &state)
            return answer
        }
        return await answer?.waitIgnoringCancellation() ?? .unknown(.noAnswer)
    }

    /// Requests from a STUN server the address at which it sees this node's socket.
    ///
    /// - Throws: ``STUNFailure``; `CancellationError` when cancelled.
    package func querySTUN(_ server: SocketAddress, schedule: STUNTransaction.Schedule = .brief) async throws
        -> SocketAddress
    {
        let address = try await stun.mappedAddress(at: server, schedule: schedule)
        apply(.paths(.addressObserved(address, by: server)))
        return address
    }

    /// Sends probes to an address until a datagram arrives from it, ten at most, so that the NATs on the way let
    /// datagrams pass.
    ///
    /// - Returns: whether a datagram arrived.
    package func punchHole(to address: SocketAddress) async throws -> Bool {
        try await stun.punchHole(to: address)
    }

    /// Passes the STUN datagrams that arrive at the node's own ports to the core and to the STUN client.
    func receiveProbes() async {
        for await datagram in endpoint.foreignDatagrams {
            let probe = PathInput.probeReceived(datagram.bytes, from: datagram.source, port: datagram.port)
            apply(.paths(probe))
            stun.receive(datagram)
        }
    }
}
