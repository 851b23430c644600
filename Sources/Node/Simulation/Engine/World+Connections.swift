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
            generation: nodes[node].generation,
            peerNumber: UInt32(nodes.number(of: peer) ?? Int(UInt32.max)),
            attemptsLeft: addresses.count
        )
        record.noteDial(of: dial.peerNumber, addressCount: addresses.count)
        let slot = network.dials.insert(dial)
        for (index, address) in addresses.enumerated() {
            let start = queue.now + Self.dialStagger * Int64(index)
            let target = SimulatedAddress.number(at: address) ?? nodes.count
            let arrival = target < nodes.count ? self.arrival(of: node, at: target, sentAt: start) : nil
            let giveUp = start + network.model.dialTimeout.nanoseconds
            if let arrival, arrival < giveUp {
                queue.schedule(.dialArrived, at: arrival, node: target, slot: slot)
            } else {
                queue.schedule(.dialFailed, at: giveUp, node: node, slot: slot)
            }
        }
    }

    /// Answers the first flight of a dial at `target` if it runs and is reachable; its answer proves its identity.
    mutating func answerDial(_ event: Event, by target: Int) {
        guard let dial = network.dials[event.slot] else { return }
        let node = Int(dial.node)
        let now = queue.now
        let giveUp = now + network.model.dialTimeout.nanoseconds
        guard nodes[target].isRunning, let answer = arrival(of: target, at: node, sentAt: now) else {
            return queue.schedule(.dialFailed, at: giveUp, node: node, slot: event.slot)
        }
        let isMeant = target == Int(dial.peerNumber)
        let kind: Event.Kind = isMeant ? .dialledUp : .dialFailed
        queue.schedule(
            kind,
            at: min(answer, giveUp),
            node: node,
            slot: event.slot,
            stamp: nodes[target].generation,
            payload: UInt32(target)
        )
    }

    private mutating func arrival(of source: Int, at target: Int, sentAt time: Int64) -> Int64? {
        network.arrival(over: nodes.way(from: source, to: target), sentAt: time)
    }

    /// Completes a dial: the dialler has the proof and may send, and its first packet opens the connection at the acceptor.
    mutating func finishDial(_ event: Event, by node: Int) {
        guard let dial = network.dials.succeed(event.slot), nodes[node].generation == dial.generation,
            nodes[node].isRunning
        else { return }
        let id = network.connections.open(
            from: SimulatedConnection.End(node: dial.node, generation: dial.generation),
            to: SimulatedConnection.End(node: event.payload, generation: event.stamp)
        )
        post(.acceptedUp, on: id, from: node)
        bringUp(id, at: node, to: Int(event.payload), isDialler: true)
    }

    mutating func failDial(_ slot: UInt32) {
        guard let dial = network.dials.fail(slot) else { return }
        let node = Int(dial.node)
        guard nodes[node].isRunning, nodes[node].generation == dial.generation,
            Int(dial.peerNumber) < nodes.count
        else { return }
        record.note(.dialFailed, at: queue.now, of: node, UInt64(dial.peerNumber))
        apply(.peer(.dialFailed(nodes[Int(dial.peerNumber)].peerId)), to: node)
    }

    // MARK: Coming up

    mutating func bringUp(_ event: Event, at node: Int, isDialler: Bool) {
        let id = event.connection
        guard let connection = network.connections[id] else { return }
        guard nodes[node].isRunning, nodes[node].generation == connection[node].generation else {
            // The process of the handshake has ended; its host sends nothing, and the dialler times out.
            return losePending(id)
        }
        bringUp(id, at: node, to: connection.other(than: node), isDialler: isDialler)
    }

    /// Drops a connection of which the acceptor was never notified; the dialler notices the silence.
    private mutating func losePending(_ id: ConnectionId) {
        if let dialler = network.connections.losePending(id) { silence(id, at: dialler) }
    }

    /// Schedules the idle timeout of a connection at a node.
    mutating func silence(_ id: ConnectionId, at node: Int) {
        let time = queue.now + network.model.idleTimeout.nanoseconds
        queue.schedule(.down, at: time, node: node, slot: id.slot, stamp: id.stamp, payload: Event.noCode)
    }

    private mutating func bringUp(_ id: ConnectionId, at node: Int, to other: Int, isDialler: Bool) {
        network.connections.bringUp(id.slot, at: node)
        nodes[node].links.append(id.slot)
        record.note(isDialler ? .dialledUp : .acceptedUp, at: queue.now, of: node, UInt64(other))
        let link = Link(
            peer: nodes[other].peerId,
            isDialler: isDialler,
            address: SimulatedAddress.of(other),
            exporter: Self.exporter(id.stamp)
        )
        apply(.connection(.up(id, link)), to: node)
    }

    /// Returns the bytes that TLS would export: equal at both ends, different on each connection.
    private static func exporter(_ stamp: UInt32) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(stamp), name: "exporter")
        return random.bytes(Link.exporterByteCount)
    }

    // MARK: Ending

    /// Ends a connection at `node`; the other end is notified after the frames sent before.
    mutating func close(_ id: ConnectionId, _ code: CloseCode, by node: Int) {
        post(.down, on: id, from: node, payload: UInt32(truncatingIfNeeded: code.rawValue))
        _ = takeDown(id, at: node)
    }

    /// Ends a connection that gives way to another one; nothing but control frames is on it, so at once.
    mutating func drain(_ id: ConnectionId, by node: Int) {
        guard network.connections[id] != nil else { return }
        let code = UInt32(truncatingIfNeeded: CloseCode.superseded.rawValue)
        post(.down, on: id, from: node, payload: code)
        queue.schedule(.down, at: queue.now, node: node, slot: id.slot, stamp: id.stamp, payload: code)
    }

    mutating func bringDown(_ event: Event, at node: Int) {
        let id = event.connection
        guard takeDown(id, at: node) else { return }
        let code = event.payload == Event.noCode ? nil : UInt64(event.payload)
        record.note(.down, at: queue.now, of: node, code ?? 0)
        apply(.connection(.down(id, code: code)), to: node)
    }

    /// Takes a connection away from one of its nodes; false if that did not have it.
    mutating func takeDown(_ id: ConnectionId, at node: Int) -> Bool {
        guard network.connections.takeDown(id, at: node) else { return false }
        if let index = nodes[node].links.firstIndex(of: id.slot) { nodes[node].links.swapRemove(index) }
        return true
    }

    /// Schedules an event at the other end of `node` after everything that was sent before.
    private mutating func post(_ kind: Event.Kind, on id: ConnectionId, from node: Int, payload: UInt32 = 0) {
        guard let connection = network.connections[id] else { return }
        let other = connection.other(than: node)
        let way = nodes.way(from: node, to: other)
        guard let arrival = network.nextArrival(on: id.slot, over: way, sentAt: queue.now) else {
            if kind == .acceptedUp { losePending(id) }
            return
        }
        queue.schedule(kind, at: arrival, node: other, slot: id.slot, stamp: id.stamp, payload: payload)
    }
}

extension Array {
    /// Removes an element by putting the last one in its place.
    fileprivate mutating func swapRemove(_ index: Int) {
        swapAt(index, count - 1)
        removeLast()
    }
}
