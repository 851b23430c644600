internal import Identity

extension WireGuardInterface {
    /// Finds the keys of received transport messages; other datagrams are left for
    /// ``handleHandshakes(of:_:at:using:effects:)``.
    ///
    /// Call it under the lock of the value, and ``OpeningWork/open(_:into:)`` outside.
    package mutating func lookUp(_ datagrams: DatagramBatch, into work: inout OpeningWork) {
        work.removeAll()
        for index in 0..<datagrams.count {
            guard let header = datagrams.transportHeader(at: index) else {
                work.handshakes.append(index)
                continue
            }
            if work.extend(header, index) { continue }
            guard header.counter < Constants.rejectAfterMessages,
                case .session(let place) = sessions.owner(of: header.receiver),
                let session = sessions[place]
            else {
                drops.unknownIndex += 1
                continue
            }
            work.append(header, index, key: session.receivingKey)
        }
    }

    /// Accepts opened packets: counts each once, checks its source, and moves the peer's endpoint.
    ///
    /// Call it under the lock of the value. ``OpenedBatch/deliveries`` then has the packets for the local machine.
    package mutating func accept(
        _ opened: inout OpenedBatch,
        of datagrams: DatagramBatch,
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        effects: inout [Effect]
    ) {
        drops.forged += UInt64(opened.forged)
        guard !opened.messages.isEmpty else { return }
        let times = times(at: moment)
        Turn.run(at: times, into: &effects) { turn in
            var index = 0
            while index < opened.messages.count {
                let receiver = opened.messages[index].receiver
                var end = index + 1
                while end < opened.messages.count, opened.messages[end].receiver == receiver { end += 1 }
                accept(&opened, index..<end, of: datagrams, &turn, using: &random)
                index = end
            }
        }
    }

    /// Accepts consecutive messages of one session.
    private mutating func accept(
        _ opened: inout OpenedBatch,
        _ range: Range<Int>,
        of datagrams: DatagramBatch,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard case .session(let place) = sessions.owner(of: opened.messages[range.lowerBound].receiver),
            let peer = sessions[place]?.peer, sessions[place]?.isExpired(at: turn.now.elapsed) == false
        else { return drops.unknownIndex += UInt64(range.count) }
        var hasData = false
        var byteCount = 0
        var newest: SocketAddress?
        var isAuthentic = false
        for index in range {
            let message = opened.messages[index]
            let isNewest = sessions[place]?.window.isNewest(message.counter) ?? false
            guard sessions[place]?.window.receive(message.counter) == true else {
                drops.replayed += 1
                continue
            }
            isAuthentic = true
            let datagram = datagrams.datagrams[message.datagram]
            byteCount += datagram.range.count
            if isNewest { newest = datagram.endpoint }
            guard opened.packets.byteCount(at: index) > 0 else { continue }
            hasData = true
            deliver(&opened, index, of: peer)
        }
        guard isAuthentic else { return }
        confirm(place, of: peer, &turn, using: &random)
        noteReceived(byteCount, from: newest, isNewest: isFromNewestSession(place, of: peer), peer, &turn)
        if hasData { startKeepaliveTimer(of: peer, at: turn.now.elapsed) }
        renewAfterReceiving(place, of: peer, &turn, using: &random)
    }

    /// Adds a packet to the deliveries if its source belongs to the peer.
    private mutating func deliver(_ opened: inout OpenedBatch, _ index: Int, of peer: Int) {
        let packet = unsafe opened.packets.withUnsafeBytes(at: index) { unsafe InnerPacket($0) }
        guard let packet, routes.owner(of: packet.source, isIPv6: packet.isIPv6) == peer else {
            return drops.wrongSource += 1
        }
        opened.deliver(index, byteCount: packet.byteCount, of: peer)
    }

    /// Makes the responder's session the current one at its first packet: now the initiator has it.
    private mutating func confirm(
        _ session: Int32,
        of place: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard var own = peers[place]?.sessions, own.next == session else { return }
        sessions.remove(own.older)
        sessions.remove(own.previous)
        own.older = nil
        own.previous = own.current
        own.current = session
        own.next = nil
        peers[place]?.sessions = own
        completeHandshake(with: place, isInitiator: false, &turn)
        if staged.contains(place) { sendStaged(to: place, &turn, using: &random) }
    }

    /// Whether packets of a session move the endpoint: not those of a former session once the current one is in use.
    private func isFromNewestSession(_ session: Int32, of place: Int) -> Bool {
        guard let current = peers[place]?.sessions.current, current != session else { return true }
        return sessions[current]?.window.isUnused ?? true
    }

    /// Begins a handshake if the session would expire before its next packet.
    private mutating func renewAfterReceiving(
        _ session: Int32,
        of place: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard let peer = peers[place], peer.sessions.current == session, !peer.didRenewAfterReceiving,
            sessions[session]?.needsRekey(afterReceivingAt: turn.now.elapsed) == true
        else { return }
        peers[place]?.didRenewAfterReceiving = true
        beginHandshake(with: place, because: .renewal, &turn, using: &random)
    }
}
