internal import Bytes
internal import Identity
internal import NodeCore

// Dials, and the beginnings and ends of connections.
extension World {
    /// The pause before the next address of a peer is dialled in parallel to the earlier ones, as in the driver.
    private static let dialStagger = Duration.milliseconds(10).nanoseconds

    // MARK: Dialling

    mutating func dial(_ peer: PeerId, at addresses: [SocketAddress], by node: Int) {
        let dial = SimulatedDial(
            node: UInt32(node),
            generation: self.nodes[node].generation,
            peerNumber: UInt32(self.nodes.number(of: peer) ?? Int(UInt32.max)),
            attemptsLeft: addresses.count
        )
        self.record.noteDial(of: dial.peerNumber, addressCount: addresses.count)
        let slot = self.network.dials.insert(dial)
        for (index, address) in addresses.enumerated() {
            let start = self.queue.now + Self.dialStagger * Int64(index)
            let target = SimulatedAddress.number(at: address) ?? self.nodes.count
            let arrival = target < self.nodes.count ? self.arrival(of: node, at: target, sentAt: start) : nil
            let giveUp = start + self.network.model.dialTimeout.nanoseconds
            if let arrival, arrival < giveUp {
                self.queue.schedule(.dialArrived, at: arrival, node: target, slot: slot)
            } else {
                self.queue.schedule(.dialFailed, at: giveUp, node: node, slot: slot)
            }
        }
    }

    /// Answers the first flight of a dial at `target` if it runs and is reachable; its answer proves its identity.
    mutating func answerDial(_ event: Event, by target: Int) {
        guard let dial = self.network.dials[event.slot] else { return }
        let node = Int(dial.node)
        let now = self.queue.now
        let giveUp = now + self.network.model.dialTimeout.nanoseconds
        guard self.nodes[target].isRunning, let answer = self.arrival(of: target, at: node, sentAt: now) else {
            return self.queue.schedule(.dialFailed, at: giveUp, node: node, slot: event.slot)
        }
        let isMeant = target == Int(dial.peerNumber)
        let kind: Event.Kind = isMeant ? .dialledUp : .dialFailed
        self.queue.schedule(
            kind,
            at: min(answer, giveUp),
            node: node,
            slot: event.slot,
            stamp: self.nodes[target].generation,
            payload: UInt32(target)
        )
    }

    private mutating func arrival(of source: Int, at target: Int, sentAt time: Int64) -> Int64? {
        self.network.arrival(over: self.nodes.way(from: source, to: target), sentAt: time)
    }

    /// Completes a dial: the dialler has the proof and may send, and its first packet opens the connection at the acceptor.
    mutating func finishDial(_ event: Event, by node: Int) {
        guard let dial = self.network.dials.succeed(event.slot), self.nodes[node].generation == dial.generation,
            self.nodes[node].isRunning
        else { return }
        let id = self.network.connections.open(
            from: SimulatedConnection.End(node: dial.node, generation: dial.generation),
            to: SimulatedConnection.End(node: event.payload, generation: event.stamp)
        )
        self.post(.acceptedUp, on: id, from: node)
        self.bringUp(id, at: node, to: Int(event.payload), isDialler: true)
    }

    mutating func failDial(_ slot: UInt32) {
        guard let dial = self.network.dials.fail(slot) else { return }
        let node = Int(dial.node)
        guard self.nodes[node].isRunning, self.nodes[node].generation == dial.generation,
            Int(dial.peerNumber) < self.nodes.count
        else { return }
        self.record.note(.dialFailed, at: self.queue.now, of: node, UInt64(dial.peerNumber))
        self.apply(.peer(.dialFailed(self.nodes[Int(dial.peerNumber)].peerId)), to: node)
    }

    // MARK: Coming up

    mutating func bringUp(_ event: Event, at node: Int, isDialler: Bool) {
        let id = event.connection
        guard let connection = self.network.connections[id] else { return }
        guard self.nodes[node].isRunning, self.nodes[node].generation == connection[node].generation else {
            // The process of the handshake has ended; its host sends nothing, and the dialler times out.
            return self.losePending(id)
        }
        self.bringUp(id, at: node, to: connection.other(than: node), isDialler: isDialler)
    }

    /// Drops a connection of which the acceptor was never notified; the dialler notices the silence.
    private mutating func losePending(_ id: ConnectionId) {
        if let dialler = self.network.connections.losePending(id) { self.silence(id, at: dialler) }
    }

    /// Schedules the idle timeout of a connection at a node.
    mutating func silence(_ id: ConnectionId, at node: Int) {
        let time = self.queue.now + self.network.model.idleTimeout.nanoseconds
        self.queue.schedule(.down, at: time, node: node, slot: id.slot, stamp: id.stamp, payload: Event.noCode)
    }

    private mutating func bringUp(_ id: ConnectionId, at node: Int, to other: Int, isDialler: Bool) {
        self.network.connections.bringUp(id.slot, at: node)
        self.nodes[node].links.append(id.slot)
        self.record.note(isDialler ? .dialledUp : .acceptedUp, at: self.queue.now, of: node, UInt64(other))
        let link = Link(
            peer: self.nodes[other].peerId,
            isDialler: isDialler,
            address: SimulatedAddress.of(other),
            exporter: Self.exporter(id.stamp)
        )
        self.apply(.connection(.up(id, link)), to: node)
    }

    /// Returns the bytes that TLS would export: equal at both ends, different on each connection.
    private static func exporter(_ stamp: UInt32) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(stamp), name: "exporter")
        return random.bytes(Link.exporterByteCount)
    }

    // MARK: Ending

    /// Ends a connection at `node`; the other end is notified after the frames sent before.
    mutating func close(_ id: ConnectionId, _ code: CloseCode, by node: Int) {
        self.post(.down, on: id, from: node, payload: UInt32(truncatingIfNeeded: code.rawValue))
        _ = self.takeDown(id, at: node)
    }

    /// Ends a connection that gives way to another one; nothing but control frames is on it, so at once.
    mutating func drain(_ id: ConnectionId, by node: Int) {
        guard self.network.connections[id] != nil else { return }
        let code = UInt32(truncatingIfNeeded: CloseCode.superseded.rawValue)
        self.post(.down, on: id, from: node, payload: code)
        self.queue.schedule(.down, at: self.queue.now, node: node, slot: id.slot, stamp: id.stamp, payload: code)
    }

    mutating func bringDown(_ event: Event, at node: Int) {
        let id = event.connection
        guard self.takeDown(id, at: node) else { return }
        let code = event.payload == Event.noCode ? nil : UInt64(event.payload)
        self.record.note(.down, at: self.queue.now, of: node, code ?? 0)
        self.apply(.connection(.down(id, code: code)), to: node)
    }

    /// Takes a connection away from one of its nodes; false if that did not have it.
    mutating func takeDown(_ id: ConnectionId, at node: Int) -> Bool {
        guard self.network.connections.takeDown(id, at: node) else { return false }
        if let index = self.nodes[node].links.firstIndex(of: id.slot) { self.nodes[node].links.swapRemove(index) }
        return true
    }

    /// Schedules an event at the other end of `node` after everything that was sent before.
    private mutating func post(_ kind: Event.Kind, on id: ConnectionId, from node: Int, payload: UInt32 = 0) {
        guard let connection = self.network.connections[id] else { return }
        let other = connection.other(than: node)
        let way = self.nodes.way(from: node, to: other)
        guard let arrival = self.network.nextArrival(on: id.slot, over: way, sentAt: self.queue.now) else {
            if kind == .acceptedUp { self.losePending(id) }
            return
        }
        self.queue.schedule(kind, at: arrival, node: other, slot: id.slot, stamp: id.stamp, payload: payload)
    }
}

extension Array {
    /// Removes an element by putting the last one in its place.
    fileprivate mutating func swapRemove(_ index: Int) {
        self.swapAt(index, self.count - 1)
        self.removeLast()
    }
}
