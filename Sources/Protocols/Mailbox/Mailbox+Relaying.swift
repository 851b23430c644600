internal import Identity

// The relay: sealed deposits of other members are passed on, so that their holders do not learn the sender.
extension Mailbox {
    mutating func relay(_ sealed: [UInt8], to holder: PeerId, _ source: DepositSource, _ turn: inout Turn) {
        guard budgets.takeDeposit(of: sealed.count, by: source.peer, at: turn.now.monotonic) else {
            return answer(source, .relayFull, &turn)
        }
        guard holder != source.peer, members.isHolder(holder) else { return answer(source, .unreachable, &turn) }
        guard relays.hasRoom(for: sealed.count, from: source.peer, to: holder),
            budgets.takeRelayed(of: sealed.count, from: source.peer, at: turn.now.monotonic)
        else { return answer(source, .relayFull, &turn) }
        let request = nextRequest()
        let deadline = turn.now.monotonic + configuration.limits.relayTimeout
        let relay = Relays.Relay(
            sender: source.peer,
            request: source.request,
            holder: holder,
            byteCount: sealed.count,
            deadline: deadline
        )
        relays.add(relay, as: request)
        turn.emit(.send(holder, Message.relayed(request: request, sealed).bytes))
    }

    /// Passes on the reply of a holder to a relayed deposit; returns false if this node did not relay it.
    ///
    /// A holder that reports a status of relays did not store the mail, and must not be taken for a failed relay.
    mutating func passOn(
        _ request: UInt32,
        _ status: DepositStatus,
        _ receipt: [UInt8],
        from holder: PeerId,
        _ turn: inout Turn
    ) -> Bool {
        guard let relay = relays.take(request, answeredBy: holder) else { return false }
        let reply = Message.reply(
            request: relay.request,
            status.isOfRelay ? .unavailable : status,
            receipt: receipt
        )
        turn.emit(.send(relay.sender, reply.bytes))
        return true
    }

    /// Answers the senders whose holder does not respond or has disconnected.
    mutating func failRelays(gone: PeerId? = nil, _ turn: inout Turn) {
        for relay in relays.takeFailed(at: turn.now.monotonic, gone: gone) {
            answer(DepositSource(peer: relay.sender, request: relay.request), .unanswered, &turn)
        }
    }
}
