internal import Identity
internal import NodeCore

// Nodes are made, started and stopped.
extension World {
    /// Makes a device with an identity and a token, switched off.
    mutating func addNode(where isWanted: (PeerId) -> Bool = { _ in true }) throws(IdentityError) {
        let number = self.nodes.count
        let signer = self.keys.peer(number, where: isWanted)
        let token = try AccessToken.create(
            peerId: PeerId(publicKey: signer.publicKey),
            networkId: self.keys.networkId,
            signer: self.keys.network,
            expirationSeconds: nil
        )
        let skew = self.scenario.clocks.skew.components.seconds
        let offset = self.lives.wallOffset(within: skew)
        self.nodes.add(SimulatedNode(signer: signer, token: token, wallOffset: offset))
        if let localNetwork = self.network.model.local, localNetwork.knows == .secret {
            self.nodes[number].disk.secrets = MemberSecrets(self.keys.firstSecret)
        }
    }

    /// Writes the members that a node knows initially to its disk.
    mutating func giveContacts(to node: Int) {
        let contacts = self.scenario.contacts
        let count = min(contacts.count, self.nodes.count - 1)
        guard count > 0 else { return }
        for turn in 0..<count {
            var other: Int
            switch contacts.pattern {
            case .none: return
            case .ring: other = (node + 1 + turn) % self.nodes.count
            case .first: other = turn
            case .random: other = self.lives.contact(in: self.nodes, at: self.queue.now)
            }
            if other == node { other = (node + 1) % self.nodes.count }
            self.nodes[node].disk.remember(self.nodes[other].peerId, at: [SimulatedAddress.of(other)])
        }
    }

    mutating func start(_ node: Int) {
        guard !self.nodes[node].isRunning else { return }
        var limits = Limits()
        if let kept = self.scenario.keptConnections { limits.keptConnections = kept }
        let signer = self.nodes[node].signer
        let configuration = self.lives.configuration(for: signer, limits, self.keys.verifier)
        self.nodes.switchOn(node, configuration, at: self.queue.now)
        self.record.note(.start, at: self.queue.now, of: node, UInt64(self.nodes[node].generation))
        self.readDisk(of: node)
    }

    /// Restores a new core from its disk, as a running node does from its stores.
    private mutating func readDisk(of node: Int) {
        let network = self.keys.networkId
        let disk = self.nodes[node].disk
        let revocations = disk.revocationSet(of: network)
        self.apply(
            .membership(.added(self.nodes[node].token, obtainedSeconds: Self.startSeconds, revocations)),
            to: node
        )
        let secrets = disk.secrets?.all ?? (node == Population.owner ? [self.keys.firstSecret] : [])
        for secret in secrets { self.apply(.membership(.secretAdded(secret)), to: node) }
        if let localNetwork = self.network.model.local {
            if localNetwork.knows == .rendezvous {
                let key = self.keys.firstSecret.rendezvous.publicKey
                self.apply(.membership(.rendezvousLearnt(network, key)), to: node)
            }
            self.apply(.addressesChanged([SimulatedAddress.of(node)]), to: node)
            self.apply(.discovery(.started), to: node)
        }
        if !disk.records.isEmpty {
            let records = disk.records.keys.sorted().compactMap { disk.records[$0] }
            self.apply(.table(.recordsLoaded(network, records)), to: node)
        }
        if self.scenario.sendsMail { self.readMail(of: node) }
        if self.scenario.exchangesKeys { self.readKeys(of: node) }
        for (peer, addresses) in disk.peers {
            self.apply(.peer(.remembered(peer, networks: [network], addresses: addresses)), to: node)
            self.apply(.peer(.sought(peer)), to: node)
        }
    }

    mutating func stop(_ node: Int, isAbrupt: Bool) {
        guard self.nodes[node].isRunning else { return }
        self.record.note(.stop, at: self.queue.now, of: node, isAbrupt ? 1 : 0)
        self.noteMeetings()
        if !isAbrupt { self.apply(.stopping, to: node) }
        for purpose in self.requests.abandon(of: node, self.nodes[node].generation) {
            self.record.requests.noteAbandoned(purpose)
        }
        let links = self.nodes[node].links
        for slot in links {
            guard let connection = self.network.connections[slot] else { continue }
            let id = ConnectionId(slot: slot, stamp: connection.stamp)
            self.silence(id, at: connection.other(than: node))
            _ = self.takeDown(id, at: node)
        }
        self.nodes.switchOff(node)
    }

    // MARK: Churn

    mutating func beginChurn(_ churn: Scenario.Churn) {
        self.lives.begin(churn, at: self.queue.now)
        for node in self.nodes.indices where node != Population.owner {
            if self.nodes[node].isRunning {
                self.scheduleDeparture(of: node)
            } else if let start = self.lives.arrival(at: self.queue.now) {
                self.queue.schedule(.start, at: start, node: node, stamp: self.nodes[node].generation)
            }
        }
    }

    /// Starts a node, and draws the end of its session.
    mutating func beginSession(of node: Int) {
        self.start(node)
        self.scheduleDeparture(of: node)
    }

    /// Draws how long a node stays that starts now.
    private mutating func scheduleDeparture(of node: Int) {
        guard let departure = self.lives.departure(at: self.queue.now) else { return }
        self.queue.schedule(
            .stop,
            at: departure.at,
            node: node,
            stamp: self.nodes[node].generation,
            payload: departure.isAbrupt ? 1 : 0
        )
    }

    /// Ends a session; another node replaces the one that leaves, or that one returns later.
    mutating func end(_ node: Int, isAbrupt: Bool) throws(IdentityError) {
        self.stop(node, isAbrupt: isAbrupt)
        guard let successor = self.lives.successor(of: node, at: self.queue.now) else { return }
        self.nodes[node].isGone = successor.isForGood
        let next = successor.number ?? self.nodes.count
        if successor.number == nil {
            try self.addNode()
            self.giveContacts(to: next)
        }
        if successor.start <= self.queue.now {
            self.beginSession(of: next)
        } else {
            self.queue.schedule(.start, at: successor.start, node: next, stamp: self.nodes[next].generation)
        }
    }
}
