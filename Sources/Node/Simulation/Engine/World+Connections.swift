internal import Bytes
internal import Identity
internal import NodeCore
internal import Transport

// Dials, frames and the ends of connections.
extension World {
    /// The pause before the next address of a peer is dialled beside the earlier ones, as in the driver.
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
        let slot = self.dials.insert(dial)
        for (index, address) in addresses.enumerated() {
            let start = self.queue.now + Self.dialStagger * Int64(index)
            let target = SimulatedAddress.number(at: address) ?? self.nodes.count
            let arrival = target < self.nodes.count ? self.arrival(of: node, at: target, sentAt: start) : nil
            let giveUp = start + self.scenario.network.dialTimeout.nanoseconds
            if let arrival, arrival < giveUp {
                self.queue.schedule(.dialArrived, at: arrival, node: target, slot: slot)
            } else {
                self.queue.schedule(.dialFailed, at: giveUp, node: node, slot: slot)
            }
        }
    }

    /// The first flight has come to `target`: if that runs and hears, its answer proves who it is.
    mutating func answerDial(_ event: Event, by target: Int) {
        guard let dial = self.dials[event.slot] else { return }
        let node = Int(dial.node)
        let now = self.queue.now
        let giveUp = now + self.scenario.network.dialTimeout.nanoseconds
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

    /// The dialler has the proof and may send; what it sends lets the other side know that the connection is up.
    mutating func finishDial(_ event: Event, by node: Int) {
        guard var dial = self.dials[event.slot] else { return }
        dial.attemptsLeft -= 1
        let isFirst = !dial.isConnected
        dial.isConnected = true
        self.settle(dial, in: event.slot)
        guard isFirst, self.nodes[node].generation == dial.generation, self.nodes[node].isRunning else { return }
        let target = Int(event.payload)
        self.lastStamp += 1
        let connection = SimulatedConnection(
            stamp: self.lastStamp,
            dialler: SimulatedConnection.End(node: dial.node, generation: dial.generation),
            acceptor: SimulatedConnection.End(node: event.payload, generation: event.stamp)
        )
        let slot = self.connections.insert(connection)
        self.post(.acceptedUp, on: slot, from: node)
        self.bringUp(slot, self.lastStamp, at: node, to: target, isDialler: true)
    }

    mutating func failDial(_ slot: UInt32) {
        guard var dial = self.dials[slot] else { return }
        dial.attemptsLeft -= 1
        self.settle(dial, in: slot)
        let node = Int(dial.node)
        guard dial.attemptsLeft == 0, !dial.isConnected, self.nodes[node].isRunning,
            self.nodes[node].generation == dial.generation, Int(dial.peerNumber) < self.nodes.count
        else { return }
        self.record.note(.dialFailed, at: self.queue.now, of: node, UInt64(dial.peerNumber))
        self.apply(.peer(.dialFailed(self.nodes[Int(dial.peerNumber)].peerId)), to: node)
    }

    private mutating func settle(_ dial: SimulatedDial, in slot: UInt32) {
        self.dials[slot] = dial
        if dial.attemptsLeft == 0 { _ = self.dials.remove(slot) }
    }

    // MARK: Coming up

    mutating func bringUp(_ event: Event, at node: Int, isDialler: Bool) {
        guard let connection = self.connections[event.slot], connection.stamp == event.stamp else { return }
        guard self.nodes[node].isRunning, self.nodes[node].generation == connection[node].generation else {
            // The process that shook hands is gone; its host says nothing, and the dialler finds out in the end.
            return self.losePending(event.slot)
        }
        self.bringUp(event.slot, event.stamp, at: node, to: connection.other(than: node), isDialler: isDialler)
    }

    /// The acceptor will never know of a connection; the dialler notices the silence.
    private mutating func losePending(_ slot: UInt32) {
        guard let connection = self.connections[slot], connection.acceptor.stage == .pending else { return }
        self.connections[slot]?.acceptor.stage = .down
        self.silence(slot, at: Int(connection.dialler.node))
        self.forgetIfOver(slot)
    }

    /// Lets a node notice that nothing comes any more.
    mutating func silence(_ slot: UInt32, at node: Int) {
        guard let connection = self.connections[slot] else { return }
        let time = self.queue.now + self.scenario.network.idleTimeout.nanoseconds
        let code = Event.noCode
        self.queue.schedule(.down, at: time, node: node, slot: slot, stamp: connection.stamp, payload: code)
    }

    private mutating func bringUp(_ slot: UInt32, _ stamp: UInt32, at node: Int, to other: Int, isDialler: Bool) {
        self.connections[slot]?[node].stage = .up
        self.nodes[node].links.append(slot)
        self.record.note(isDialler ? .dialledUp : .acceptedUp, at: self.queue.now, of: node, UInt64(other))
        let link = Link(
            peer: self.nodes[other].peerId,
            isDialler: isDialler,
            address: SimulatedAddress.of(other),
            exporter: Self.exporter(stamp)
        )
        self.apply(.connection(.up(SimulatedConnection.id(slot: slot, stamp: stamp), link)), to: node)
    }

    /// What TLS would export: the same at both ends, another on each connection.
    private static func exporter(_ stamp: UInt32) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(stamp), name: "exporter")
        return random.bytes(Link.exporterByteCount)
    }

    // MARK: Frames

    mutating func send(_ frame: Frame, on id: ConnectionId, from node: Int) {
        guard let connection = self.connections[id.slot], connection.stamp == id.stamp, connection[node].stage == .up
        else {
            return
        }
        let bytes = frame.bytes
        self.record.traffic.note(bytes.first ?? 0, byteCount: bytes.count + Self.lengthByteCount(bytes.count))
        let other = connection.other(than: node)
        let end = connection[other]
        let byteCount = end.lastByteCount + bytes.count
        if end.lastSent == self.queue.now, end.lastArrival > self.queue.now, byteCount <= SimulatedPacket.byteLimit {
            self.packets[end.lastPacket]?.others.append(bytes)
            self.connections[id.slot]?[other].lastByteCount = byteCount
            return
        }
        guard let arrival = self.nextArrival(on: id.slot, from: node) else { return }
        let payload = self.packets.insert(SimulatedPacket(first: bytes))
        self.connections[id.slot]?[other].lastPacket = payload
        self.connections[id.slot]?[other].lastSent = self.queue.now
        self.connections[id.slot]?[other].lastByteCount = bytes.count
        self.queue.schedule(.frame, at: arrival, node: other, slot: id.slot, stamp: id.stamp, payload: payload)
    }

    /// The bytes of a QUIC varint.
    private static func lengthByteCount(_ count: Int) -> Int { count < 64 ? 1 : count < 16384 ? 2 : 4 }

    mutating func deliverPacket(_ event: Event, to node: Int) {
        guard let packet = self.packets.remove(event.payload) else { return }
        self.deliver(packet.first, of: event, to: node)
        for frame in packet.others { self.deliver(frame, of: event, to: node) }
    }

    private mutating func deliver(_ bytes: [UInt8], of event: Event, to node: Int) {
        guard let connection = self.connections[event.slot], connection.stamp == event.stamp,
            connection[node].stage == .up
        else { return }
        self.record.noteFrame(bytes, at: self.queue.now, of: node)
        let id = SimulatedConnection.id(slot: event.slot, stamp: event.stamp)
        if self.nodes[node].isHostile, self.answerFalsely(bytes, on: id, by: node) { return }
        self.apply(.connection(.frameReceived(id, bytes)), to: node)
    }

    // MARK: Ending

    /// Ends a connection at `node`; the other end learns of it after what was sent before.
    mutating func close(_ id: ConnectionId, _ code: CloseCode, by node: Int) {
        guard self.connections[id.slot]?.stamp == id.stamp else { return }
        self.post(.down, on: id.slot, from: node, payload: UInt32(truncatingIfNeeded: code.rawValue))
        _ = self.takeDown(id.slot, id.stamp, at: node)
    }

    /// Ends a connection that gives way to another one; nothing but control frames is on it, so at once.
    mutating func drain(_ id: ConnectionId, by node: Int) {
        guard self.connections[id.slot]?.stamp == id.stamp else { return }
        let code = UInt32(truncatingIfNeeded: CloseCode.superseded.rawValue)
        self.post(.down, on: id.slot, from: node, payload: code)
        self.queue.schedule(.down, at: self.queue.now, node: node, slot: id.slot, stamp: id.stamp, payload: code)
    }

    mutating func bringDown(_ event: Event, at node: Int) {
        guard self.takeDown(event.slot, event.stamp, at: node) else { return }
        let code = event.payload == Event.noCode ? nil : UInt64(event.payload)
        self.record.note(.down, at: self.queue.now, of: node, code ?? 0)
        let id = SimulatedConnection.id(slot: event.slot, stamp: event.stamp)
        self.apply(.connection(.down(id, code: code)), to: node)
    }

    /// Takes a connection away from one of its nodes; false if that did not have it.
    mutating func takeDown(_ slot: UInt32, _ stamp: UInt32, at node: Int) -> Bool {
        guard let connection = self.connections[slot], connection.stamp == stamp, connection[node].stage == .up else {
            return false
        }
        self.connections[slot]?[node].stage = .down
        if let index = self.nodes[node].links.firstIndex(of: slot) { self.nodes[node].links.swapRemove(index) }
        self.forgetIfOver(slot)
        return true
    }

    private mutating func forgetIfOver(_ slot: UInt32) {
        guard let connection = self.connections[slot], connection.dialler.stage == .down,
            connection.acceptor.stage == .down
        else { return }
        _ = self.connections.remove(slot)
    }

    // MARK: Time under way

    /// Schedules what arrives at the other end of `node` after everything that was sent before.
    private mutating func post(_ kind: Event.Kind, on slot: UInt32, from node: Int, payload: UInt32 = 0) {
        guard let connection = self.connections[slot] else { return }
        let other = connection.other(than: node)
        guard let arrival = self.nextArrival(on: slot, from: node) else {
            if kind == .acceptedUp { self.losePending(slot) }
            return
        }
        self.queue.schedule(
            kind,
            at: arrival,
            node: other,
            slot: slot,
            stamp: connection.stamp,
            payload: payload
        )
    }

    private mutating func nextArrival(on slot: UInt32, from node: Int) -> Int64? {
        guard let connection = self.connections[slot] else { return nil }
        let other = connection.other(than: node)
        guard let free = self.arrival(of: node, at: other, sentAt: self.queue.now) else { return nil }
        let arrival = max(free, connection[other].lastArrival)
        self.connections[slot]?[other].lastArrival = arrival
        return arrival
    }

    /// When something sent on a connection arrives; nil if it never does, because a partition outlasts it.
    private mutating func arrival(of source: Int, at target: Int, sentAt time: Int64) -> Int64? {
        guard let start = self.passage(from: source, to: target, at: time) else { return nil }
        let network = self.scenario.network
        let oneWay = self.latency.oneWay(from: source, to: target)
        guard network.loss > 0 || network.jitter > .zero else { return start + oneWay }
        let link = LinkModel(latency: .nanoseconds(oneWay), jitter: network.jitter, loss: network.loss)
        return start + link.connectionDelay(using: &self.connectionChance).nanoseconds
    }
}

extension Array {
    /// Removes an element by putting the last one in its place.
    mutating func swapRemove(_ index: Int) {
        self.swapAt(index, self.count - 1)
        self.removeLast()
    }
}
