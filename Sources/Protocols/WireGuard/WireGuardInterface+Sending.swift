internal import CryptoPrimitives
internal import Identity

extension WireGuardInterface {
    /// Reserves keys and counters for outgoing packets; a packet without a session waits for the handshake that begins.
    ///
    /// Call it under the lock of the value, and ``SealingWork/seal(_:into:)`` outside. Messages of the work precede the
    /// datagrams of `effects`.
    package mutating func prepare(
        _ packets: PacketBatch,
        at moment: Moment,
        using random: inout some RandomNumberGenerator,
        into work: inout SealingWork,
        effects: inout [Effect]
    ) {
        work.begin(mtu: mtu)
        let times = times(at: moment)
        Turn.run(at: times, into: &effects) { turn in
            var first = 0
            var place: Int?
            for index in 0..<packets.count {
                let next = route(packets, index)
                if next != place {
                    prepare(packets, first..<index, to: place, into: &work, &turn, using: &random)
                    first = index
                    place = next
                }
            }
            prepare(packets, first..<packets.count, to: place, into: &work, &turn, using: &random)
        }
    }

    /// Returns the peer of a packet's destination; nil without one.
    private func route(_ packets: PacketBatch, _ index: Int) -> Int? {
        let packet = unsafe packets.withUnsafeBytes(at: index) { unsafe InnerPacket($0) }
        return packet.flatMap { routes.owner(of: $0.destination, isIPv6: $0.isIPv6) }
    }

    /// Prepares consecutive packets for one peer.
    private mutating func prepare(
        _ packets: PacketBatch,
        _ range: Range<Int>,
        to place: Int?,
        into work: inout SealingWork,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard !range.isEmpty else { return }
        guard let place, let endpoint = peers[place]?.endpoint else { return drops.unroutable += UInt64(range.count) }
        guard let session = usableSession(of: place, messages: range.count, at: turn.now.elapsed) else {
            for index in range { staged.append(Array(packets[index]), for: place) }
            return beginHandshake(with: place, because: .packet, &turn, using: &random)
        }
        guard let state = sessions[session] else { return }
        work.append(state, endpoint: endpoint, packets: range)
        sessions[session]?.nextCounter += UInt64(range.count)
        let byteCount = range.reduce(0) { sum, index in
            let count = packets.byteCount(at: index)
            return sum + count + TransportPadding.count(after: count, mtu: mtu) + TransportHeader.minimumMessage
        }
        noteSent(byteCount, to: place, isData: true, at: turn.now.elapsed)
        startSilenceTimer(of: place, at: turn.now.elapsed, using: &random)
        renewIfNeeded(session, &turn, using: &random)
    }

    /// Sends the packets that waited for a session.
    mutating func sendStaged(
        to place: Int,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        for packet in staged.removeAll(of: place) { sendNow(packet, to: place, &turn) }
        startSilenceTimer(of: place, at: turn.now.elapsed, using: &random)
    }

    /// Sends an empty packet, or begins a handshake for it.
    mutating func sendKeepalive(to place: Int, _ turn: inout Turn, using random: inout some RandomNumberGenerator) {
        guard let session = usableSession(of: place, messages: 1, at: turn.now.elapsed) else {
            return beginHandshake(with: place, because: .packet, &turn, using: &random)
        }
        sendNow([], to: place, &turn)
        renewIfNeeded(session, &turn, using: &random)
    }

    /// Returns the current session if it can send that number of messages.
    private func usableSession(of place: Int, messages: Int, at now: Duration) -> Int32? {
        guard let current = peers[place]?.sessions.current, let session = sessions[current],
            session.remainingMessages(at: now) >= UInt64(messages)
        else { return nil }
        return current
    }

    /// Seals and sends one packet with the current session.
    private mutating func sendNow(_ packet: [UInt8], to place: Int, _ turn: inout Turn) {
        guard let endpoint = peers[place]?.endpoint,
            let current = usableSession(of: place, messages: 1, at: turn.now.elapsed), let session = sessions[current]
        else { return }
        var packets = PacketBatch()
        packets.append(packet)
        var work = SealingWork()
        work.begin(mtu: mtu)
        work.append(session, endpoint: endpoint, packets: 0..<1)
        sessions[current]?.nextCounter += 1
        var datagrams = DatagramBatch()
        work.seal(packets, into: &datagrams)
        noteSent(datagrams.memory.count, to: place, isData: !packet.isEmpty, at: turn.now.elapsed)
        turn.emit(.send(Array(datagrams.memory), to: endpoint))
    }

    /// Begins a handshake if the session is old or has sent many messages.
    private mutating func renewIfNeeded(
        _ place: Int32,
        _ turn: inout Turn,
        using random: inout some RandomNumberGenerator
    ) {
        guard let session = sessions[place], session.needsRekey(afterSendingAt: turn.now.elapsed) else { return }
        beginHandshake(with: session.peer, because: .renewal, &turn, using: &random)
    }
}
