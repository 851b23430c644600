internal import Identity

// The relay: sealed deposits of other members are passed on, so that their holders do not learn the sender.
extension Mailbox {
    mutating func relay(
        _ sealed: [UInt8],
        to holder: PeerId,
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard budgets.takeDeposit(of: sealed.count, by: source.peer, at: now.monotonic) else {
            return answer(source, .relayFull, &effects)
        }
        guard holder != source.peer, members.isHolder(holder) else { return answer(source, .unreachable, &effects) }
        guard relays.hasRoom(for: sealed.count, from: source.peer, to: holder),
            budgets.takeRelayed(of: sealed.count, from: source.peer, at: now.monotonic)
        else { return answer(source, .relayFull, &effects) }
        let request = nextRequest()
        let deadline = now.monotonic + configuration.limits.relayTimeout
        let relay = Relays.Relay(
            sender: source.peer,
            request: source.request,
            holder: holder,
            byteCount: sealed.count,
            deadline: deadline
        )
        relays.add(relay, as: request)
        effects.append(.send(holder, Message.relayed(request: request, sealed).bytes))
    }

    /// Passes on the reply of a holder to a relayed deposit; returns false if this node did not relay it.
    ///
    /// A holder that reports a status of relays did not store the mail, and must not be taken for a failed relay.
    mutating func passOn(
        _ request: UInt32,
        _ status: DepositStatus,
        _ receipt: [UInt8],
        from holder: PeerId,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let relay = relays.take(request, answeredBy: holder) else { return false }
        let reply = Message.reply(
            request: relay.request,
            status.isOfRelay ? .unavailable : status,
            receipt: receipt
        )
        effects.append(.send(relay.sender, reply.bytes))
        return true
    }

    /// Answers the senders whose holder does not respond or has disconnected.
    mutating func failRelays(_ now: NodeTime, gone: PeerId? = nil, _ effects: inout [Effect]) {
        for relay in relays.takeFailed(at: now.monotonic, gone: gone) {
            answer(DepositSource(peer: relay.sender, request: relay.request), .unanswered, &effects)
        }
    }
}
