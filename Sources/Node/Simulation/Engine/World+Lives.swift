internal import Bytes
internal import Identity
internal import NodeCore

// Nodes are made, started and stopped.
extension World {
    /// Makes a device with an identity and a token, switched off.
    mutating func addNode() throws(IdentityError) {
        let number = self.nodes.count
        let peerId = PeerId(publicKey: self.keys.peer(number).publicKey)
        let token = try AccessToken.create(
            peerId: peerId,
            networkId: self.keys.networkId,
            signer: self.keys.network,
            expirationSeconds: nil
        )
        let skew = self.scenario.clocks.skew.components.seconds
        let offset = skew > 0 ? Int64.random(in: -skew...skew, using: &self.lifeChance) : 0
        self.nodes.append(SimulatedNode(peerId: peerId, token: token, wallOffset: offset))
        self.numbers[peerId] = number
    }

    /// Writes the members that a node knows from the beginning to its disk.
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
            case .random: other = self.drawContact()
            }
            if other == node { other = (node + 1) % self.nodes.count }
            self.nodes[node].disk.remember(self.nodes[other].peerId, at: [SimulatedAddress.of(other)])
        }
    }

    /// Any node; once the simulation goes on preferably one that runs, because somebody let the newcomer in.
    private mutating func drawContact() -> Int {
        var other = 0
        for _ in 0..<8 {
            other = Int.random(in: self.nodes.indices, using: &self.lifeChance)
            if self.now == 0 || self.nodes[other].isRunning { break }
        }
        return other
    }

    mutating func start(_ node: Int) {
        guard !self.nodes[node].isRunning else { return }
        self.nodes[node].generation &+= 1
        self.nodes[node].startedAt = self.now
        self.nodes[node].isAdmitted = false
        self.note(.start, node, UInt64(self.nodes[node].generation))
        self.nodes[node].core = NodeCore(
            NodeCore.Configuration(
                peerId: self.nodes[node].peerId,
                instance: InstanceId(generating: &self.instances),
                randomSeed: self.instances.next(),
                verifier: self.keys.verifier
            )
        )
        let revocations = self.nodes[node].revocationSet(of: self.keys.networkId)
        let token = self.nodes[node].token
        self.apply(.membershipAdded(token, obtainedSeconds: Self.startSeconds, revocations), to: node)
        for (peer, addresses) in self.nodes[node].disk.peers {
            let networks = [self.keys.networkId]
            self.apply(.peerRemembered(peer, networks: networks, addresses: addresses), to: node)
            self.apply(.peerWanted(peer), to: node)
        }
    }

    mutating func stop(_ node: Int, isAbrupt: Bool) {
        guard self.nodes[node].isRunning else { return }
        self.note(.stop, node, isAbrupt ? 1 : 0)
        if !isAbrupt { self.apply(.stopping, to: node) }
        let links = self.nodes[node].links
        for slot in links {
            guard let connection = self.connections[slot] else { continue }
            self.silence(slot, at: connection.other(than: node))
            _ = self.takeDown(slot, connection.stamp, at: node)
        }
        self.nodes[node].core = nil
        self.nodes[node].generation &+= 1
    }
}
