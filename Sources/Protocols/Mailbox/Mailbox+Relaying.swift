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
        guard budgets.takeDeposit(of: sealed.count, by: source.peer, at: now.monotonic),
            relays.hasRoom(for: sealed.count, from: source.peer, to: holder)
        else { return answer(source, .tooMany, &effects) }
        guard holder != source.peer, members.isHolder(holder) else { return answer(source, .unreachable, &effects) }
        let request = nextRequest()
        let deadline = now.monotonic + configuration.limits.attemptTimeout
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

    /// Answers the senders whose holder does not respond or is gone.
    mutating func failRelays(_ now: NodeTime, gone: PeerId? = nil, _ effects: inout [Effect]) {
        for relay in relays.takeFailed(at: now.monotonic, gone: gone) {
            answer(DepositSource(peer: relay.sender, request: relay.request), .unreachable, &effects)
        }
    }
}
