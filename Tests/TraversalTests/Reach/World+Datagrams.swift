internal import Bytes
internal import Identity

@testable internal import Traversal

// Datagrams on their way through NATs and relays, and the connections made of them.
extension World {
    /// The source that the outside sees, or nil if nothing gets out.
    func outside(_ node: Int, _ port: UInt16?, to destination: SocketAddress) -> SocketAddress? {
        guard !self.nodes[node].isDown else { return nil }
        let local = self.nodes[node].addresses.first { $0.isIPv6 == destination.isIPv6 }
        guard let local else { return nil }
        let inside = SocketAddress(local.ip, port: port ?? local.port)
        guard let nat = self.nodes[node].nat else { return inside }
        // Inside the site, and with IPv6, nothing is translated.
        if destination.isIPv6 { return inside }
        if self.nodes.contains(where: { $0.nat == nat && $0.addresses.contains { $0.ip == destination.ip } }) {
            return inside
        }
        return self.nats[nat].outbound(from: inside, to: destination, at: self.now)
    }

    func send(_ packet: Packet, from node: Int, to destination: SocketAddress, port: UInt16?) {
        if let channel = ChannelId(address: destination) {
            guard let held = self.nodes[node].channels[channel], let link = self.nodes[node].links[held.relay],
                let source = self.outside(node, link.port, to: link.remote), !self.isLost()
            else { return }
            let delay = self.nodes[node].delay + self.nodes[held.relay].delay
            return self.schedule(after: delay, .forward(packet, channel, relay: held.relay, from: source))
        }
        if case .quic = packet, self.isQUICBlocked { return }
        guard let source = self.outside(node, port, to: destination), !self.isLost() else { return }
        guard let (receiver, inside) = self.receiver(of: destination, from: source, sender: node) else {
            self.strays[destination, default: 0] += 1
            return
        }
        guard self.cut != [node, receiver], !(destination.isIPv6 && self.isIPv6Broken) else { return }
        let jitter = Duration.microseconds(Int64.random(in: 0...4_000, using: &self.random))
        let delay = self.nodes[node].delay + self.nodes[receiver].delay + jitter
        let own = inside.port == Self.mainPort ? nil : inside.port
        self.schedule(after: delay, .datagram(packet, to: receiver, from: source, port: own, channel: nil))
    }

    private func isLost() -> Bool { self.random.decide(self.loss) }

    /// Returns the node that receives a datagram, and the address at which it does.
    private func receiver(
        of destination: SocketAddress,
        from source: SocketAddress,
        sender: Int
    ) -> (Int, SocketAddress)? {
        if let nat = self.nats.firstIndex(where: { $0.address == destination.ip }) {
            guard self.nodes[sender].nat != nat,
                let inside = self.nats[nat].inbound(to: destination.port, from: source, at: self.now),
                let node = self.nodes.firstIndex(where: { $0.addresses.contains { $0.ip == inside.ip } })
            else { return nil }
            return (node, inside)
        }
        guard let node = self.nodes.firstIndex(where: { $0.addresses.contains { $0.ip == destination.ip } }) else {
            return nil
        }
        let isNear = self.nodes[node].nat == nil || self.nodes[node].nat == self.nodes[sender].nat
        return isNear || destination.isIPv6 ? (node, destination) : nil
    }

    func forwarded(_ packet: Packet, _ channel: ChannelId, by relay: Int, from source: SocketAddress) {
        guard !self.nodes[relay].isDown, !self.nodes[relay].isSwallowing,
            let (end, other) = self.nodes[relay].relays[channel],
            let from = self.index(of: end.peer), let to = self.index(of: other.peer),
            self.nodes[relay].links[from]?.remote == source, let remote = self.nodes[relay].links[to]?.remote,
            let outside = self.outside(relay, nil, to: remote),
            self.receiver(of: remote, from: outside, sender: relay)?.0 == to
        else { return }
        let delay = self.nodes[relay].delay + self.nodes[to].delay
        self.schedule(
            after: delay,
            .datagram(packet, to: to, from: other.channel.address, port: nil, channel: other.channel)
        )
    }

    func arrived(_ packet: Packet, at node: Int, from source: SocketAddress, _ port: UInt16?, _ channel: ChannelId?) {
        guard !self.nodes[node].isDown, port.map({ self.nodes[node].openPorts.contains($0) }) ?? true else { return }
        if let channel, self.nodes[node].channels[channel] == nil { return }
        switch packet {
        case .stun(let bytes):
            guard let read = try? STUNPacket(bytes), self.nodes[node].reach.expects(read) else { return }  // not ours
            self.feed(node, .datagramReceived(bytes, from: source, port: port))
        case .quic(let attempt, let round, let isAnswer):
            self.handshakeArrived(attempt, round, isAnswer, at: node, from: source, port)
        }
    }

    // MARK: Connections

    func begin(_ attempt: Attempt) {
        self.progress[attempt.id] = attempt.isMove ? 2 : 0
        self.retry(attempt, attempt.isMove ? 2 : 0, 0)
    }

    func retry(_ attempt: Attempt, _ round: Int, _ count: Int) {
        guard self.progress[attempt.id] == round, !self.nodes[attempt.from].isDown else { return }
        guard count < Self.handshakeRetries else {
            self.progress[attempt.id] = nil
            let failure: Reach.Input =
                attempt.isMove ? .pathRefused(attempt.to, attempt.target) : .dialFailed(attempt.to)
            return self.feed(attempt.from, failure)
        }
        self.send(
            .quic(attempt, round: round, isAnswer: false),
            from: attempt.from,
            to: attempt.target,
            port: attempt.port
        )
        self.schedule(after: .milliseconds(200), .retry(attempt, round: round, count: count + 1))
    }

    private func handshakeArrived(
        _ attempt: Attempt,
        _ round: Int,
        _ isAnswer: Bool,
        at node: Int,
        from source: SocketAddress,
        _ port: UInt16?
    ) {
        guard let other = self.index(of: attempt.to) else { return }
        if !isAnswer {
            // Only the intended node answers; another node's certificate would be the wrong one.
            guard node == other else { return }
            if round == 1, self.nodes[node].links[attempt.from]?.id != attempt.link {
                self.setUp(node, attempt.from, isDialler: false, attempt.link, remote: source, port: port)
            }
            if round == 2 {
                guard self.nodes[node].links[attempt.from]?.id == attempt.link else { return }
                self.nodes[node].links[attempt.from]?.remote = source
                self.nodes[node].links[attempt.from]?.port = port
                self.feed(node, .pathChanged(self.nodes[attempt.from].peerId, source))
            }
            return self.send(.quic(attempt, round: round, isAnswer: true), from: node, to: source, port: port)
        }
        guard node == attempt.from, self.progress[attempt.id] == round else { return }
        switch round {
        case 0:
            self.progress[attempt.id] = 1
            self.retry(attempt, 1, 0)
        case 1:
            self.progress[attempt.id] = nil
            self.setUp(
                node,
                other,
                isDialler: true,
                attempt.link,
                remote: attempt.target,
                port: attempt.port
            )
        default:
            self.progress[attempt.id] = nil
            guard self.nodes[node].links[other]?.id == attempt.link else { return }
            self.nodes[node].links[other]?.remote = attempt.target
            self.nodes[node].links[other]?.port = attempt.port
            self.feed(node, .pathChanged(attempt.to, attempt.target))
        }
    }

    // MARK: Effects

    func perform(_ effect: Reach.Effect, of node: Int) {
        switch effect {
        case .send(let peer, _, let bytes):
            if let other = self.index(of: peer) { self.sendMessage(bytes, from: node, to: other) }
        case .host(.sendDatagram(let bytes, let address, let port)):
            self.nodes[node].probes[address, default: 0] += 1
            self.nodes[node].probeTimes.append(self.now)
            self.send(.stun(bytes), from: node, to: address, port: port)
        case .wake(let time):
            self.nodes[node].wake = time
            self.schedule(after: max(.zero, time - self.now), .wake(node))
        case .host(.openPorts(let count)):
            var free = (0..<UInt16(count)).map { 20_000 + $0 }
            free.removeAll { self.nodes[node].openPorts.contains($0) }
            if self.nodes[node].refusedOpenings > 0 {
                self.nodes[node].refusedOpenings -= 1
                free = []
            }
            self.nodes[node].openPorts.formUnion(free)
            self.schedule(after: .milliseconds(1), .run { [free] in $0.feed(node, .portsOpened(free)) })
        case .host(.closePorts(let ports)): self.nodes[node].openPorts.subtract(ports)
        case .relay(let first, let second, _):
            self.nodes[node].relays[first.channel] = (first, second)
            self.nodes[node].relays[second.channel] = (second, first)
        case .host(.stopRelaying(let channel)):
            guard let (_, other) = self.nodes[node].relays.removeValue(forKey: channel) else { return }
            self.nodes[node].relays[other.channel] = nil
        case .bind(let channel, let peer, let relay):
            guard let peer = self.index(of: peer), let relay = self.index(of: relay) else { return }
            self.nodes[node].channels[channel] = (peer, relay)
        case .host(.closeChannel(let channel)): self.nodes[node].channels[channel] = nil
        case .dial(let peer, _, let address, let port):
            self.nodes[node].dials.append(address)
            self.begin(self.attempt(node, peer, address, port, move: nil))
        case .direct(let peer, let address, let port): self.move(node, peer, address, port)
        case .fallBack(let peer, let channel): self.move(node, peer, channel.address, nil)
        case .failed(_, _, let failure): self.nodes[node].failures.append(failure)
        case .host(.record(let peer, let event)): self.nodes[node].history.append((self.now, peer, event))
        case .host(.filteringFound(let behaviour)): self.nodes[node].filterings.append(behaviour)
        case .violation: self.nodes[node].violations += 1
        }
    }

    private func move(_ node: Int, _ peer: PeerId, _ address: SocketAddress, _ port: UInt16?) {
        guard let other = self.index(of: peer), let link = self.nodes[node].links[other] else { return }
        self.begin(self.attempt(node, peer, address, port, move: link.id))
    }

    func attempt(
        _ node: Int,
        _ peer: PeerId,
        _ address: SocketAddress,
        _ port: UInt16?,
        move: Int?
    ) -> Attempt {
        Attempt(
            id: self.nextNumber(),
            from: node,
            to: peer,
            target: address,
            port: port,
            isMove: move != nil,
            link: move ?? self.nextNumber()
        )
    }
}
