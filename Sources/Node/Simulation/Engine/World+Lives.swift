internal import Identity
internal import NodeCore

// Nodes are made, started and stopped.
extension World {
    /// Makes a device with an identity and a token, switched off.
    mutating func addNode(where isWanted: (PeerId) -> Bool = { _ in true }) throws(IdentityError) {
        let number = nodes.count
        let signer = keys.peer(number, where: isWanted)
        let token = try AccessToken.create(
            peerId: PeerId(publicKey: signer.publicKey),
            networkId: keys.networkId,
            signer: keys.network,
            expirationSeconds: nil
        )
        let skew = scenario.clocks.skew.components.seconds
        let offset = lives.wallOffset(within: skew)
        nodes.add(SimulatedNode(signer: signer, token: token, wallOffset: offset))
        if let localNetwork = network.model.local, localNetwork.knows == .secret {
            nodes[number].disk.secrets = MemberSecrets(keys.firstSecret)
        }
    }

    /// Writes the members that a node knows initially to its disk.
    mutating func giveContacts(to node: Int) {
        let contacts = scenario.contacts
        let count = min(contacts.count, nodes.count - 1)
        guard count > 0 else { return }
        for turn in 0..<count {
            var other: Int
            switch contacts.pattern {
            case .none: return
            case .ring: other = (node + 1 + turn) % nodes.count
            case .first: other = turn
            case .random: other = lives.contact(in: nodes, at: queue.now)
            }
            if other == node { other = (node + 1) % nodes.count }
            nodes[node].disk.remember(nodes[other].peerId, at: [SimulatedAddress.of(other)])
        }
    }

    mutating func start(_ node: Int) {
        guard !nodes[node].isRunning else { return }
        var limits = Limits()
        if let kept = scenario.keptConnections { limits.keptConnections = kept }
        let signer = nodes[node].signer
        let configuration = lives.configuration(for: signer, limits, keys.verifier)
        nodes.switchOn(node, configuration, at: queue.now)
        record.note(.start, at: queue.now, of: node, UInt64(nodes[node].generation))
        readDisk(of: node)
    }

    /// Restores a new core from its disk, as a running node does from its stores.
    private mutating func readDisk(of node: Int) {
        let network = keys.networkId
        let disk = nodes[node].disk
        let revocations = disk.revocationSet(of: network)
        apply(.membership(.added(nodes[node].token, obtainedSeconds: Self.startSeconds, revocations)), to: node)
        let secrets = disk.secrets?.all ?? (node == Population.owner ? [keys.firstSecret] : [])
        for secret in secrets { apply(.membership(.secretAdded(secret)), to: node) }
        if let localNetwork = self.network.model.local {
            if localNetwork.knows == .rendezvous {
                let key = keys.firstSecret.rendezvous.publicKey
                apply(.membership(.rendezvousLearnt(network, key)), to: node)
            }
            apply(.addressesChanged([SimulatedAddress.of(node)]), to: node)
            apply(.discovery(.started), to: node)
        }
        if !disk.records.isEmpty {
            let records = disk.records.keys.sorted().compactMap { disk.records[$0] }
            apply(.table(.recordsLoaded(network, records)), to: node)
        }
        if scenario.sendsMail { readMail(of: node) }
        if scenario.exchangesKeys { readKeys(of: node) }
        for (peer, addresses) in disk.peers {
            apply(.peer(.remembered(peer, networks: [network], addresses: addresses)), to: node)
            apply(.peer(.sought(peer)), to: node)
        }
    }

    mutating func stop(_ node: Int, isAbrupt: Bool) {
        guard nodes[node].isRunning else { return }
        record.note(.stop, at: queue.now, of: node, isAbrupt ? 1 : 0)
        noteMeetings()
        if !isAbrupt { apply(.stopping, to: node) }
        for purpose in requests.abandon(of: node, nodes[node].generation) { record.requests.noteAbandoned(purpose) }
        let links = nodes[node].links
        for slot in links {
            guard let connection = network.connections[slot] else { continue }
            let id = ConnectionId(slot: slot, stamp: connection.stamp)
            silence(id, at: connection.other(than: node))
            _ = takeDown(id, at: node)
        }
        nodes.switchOff(node)
    }

    // MARK: Churn

    mutating func beginChurn(_ churn: Scenario.Churn) {
        lives.begin(churn, at: queue.now)
        for node in nodes.indices where node != Population.owner {
            if nodes[node].isRunning {
                scheduleDeparture(of: node)
            } else if let start = lives.arrival(at: queue.now) {
                queue.schedule(.start, at: start, node: node, stamp: nodes[node].generation)
            }
        }
    }

    /// Starts a node, and draws the end of its session.
    mutating func beginSession(of node: Int) {
        start(node)
        scheduleDeparture(of: node)
    }

    /// Draws how long a node stays that starts now.
    private mutating func scheduleDeparture(of node: Int) {
        guard let departure = lives.departure(at: queue.now) else { return }
        queue.schedule(
            .stop,
            at: departure.at,
            node: node,
            stamp: nodes[node].generation,
            payload: departure.isAbrupt ? 1 : 0
        )
    }

    /// Ends a session; another node replaces the one that leaves, or that one returns later.
    mutating func end(_ node: Int, isAbrupt: Bool) throws(IdentityError) {
        stop(node, isAbrupt: isAbrupt)
        guard let successor = lives.successor(of: node, at: queue.now) else { return }
        nodes[node].isGone = successor.isForGood
        let next = successor.number ?? nodes.count
        if successor.number == nil {
            try addNode()
            giveContacts(to: next)
        }
        if successor.start <= queue.now {
            beginSession(of: next)
        } else {
            queue.schedule(.start, at: successor.start, node: next, stamp: nodes[next].generation)
        }
    }
}
