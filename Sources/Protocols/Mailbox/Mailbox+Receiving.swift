internal import Identity
internal import OrderedCollections

// The recipient: mail is collected from its holders, and answered once the application has stored it.
extension Mailbox {
    mutating func setReceiving(_ isReceiving: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard isReceiving != self.isReceiving else { return }
        self.isReceiving = isReceiving
        guard isReceiving else {
            searchAt = nil
            return
        }
        guard !members.isEmpty else { return }
        searchAt = now.monotonic + configuration.limits.searchDelay
        // Their notices came before the application was there.
        for peer in members.holders { effects.append(.send(peer, Message.collect.bytes)) }
    }

    mutating func noticed(by peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard isReceiving, budgets.takeNotice(of: peer, at: now.monotonic) else { return }
        effects.append(.send(peer, Message.collect.bytes))
    }

    /// Connects to the members that hold mail; those that are connected got a request when they gave notice.
    func holdersFound(_ holders: [PeerId], _ effects: inout [Effect]) {
        guard isReceiving else { return }
        for holder in holders where holder != configuration.localPeerId {
            if members.contains(holder) {
                effects.append(.send(holder, Message.collect.bytes))
            } else {
                effects.append(.connect(holder))
            }
        }
    }

    mutating func receive(
        _ expirationSeconds: UInt64,
        _ body: [UInt8],
        from peer: PeerId,
        isSender: Bool,
        _ effects: inout [Effect]
    ) {
        guard isReceiving else { return }
        let mail = Mail(to: ownMailbox, expirationSeconds: expirationSeconds, body: body)
        switch receptions.add(mail.id, byteCount: body.count, from: peer) {
        case .isNew: effects.append(.host(.receive(mail, from: isSender ? peer : nil)))
        case .isPending, .isRefused: break
        }
    }

    /// Answers the members that sent a mail which the application took or refused.
    mutating func stored(_ ids: [MailID], _ reception: Reception?, _ effects: inout [Effect]) {
        var answers: OrderedDictionary<PeerId, [MailID]> = [:]
        for id in ids {
            for peer in receptions.take(id) where members.contains(peer) { answers[peer, default: []].append(id) }
        }
        guard let reception else { return }
        for (peer, ids) in answers {
            for start in stride(from: 0, to: ids.count, by: Message.idLimit) {
                let page = Array(ids[start..<min(start + Message.idLimit, ids.count)])
                effects.append(.send(peer, Message.received(reception, page).bytes))
            }
        }
    }
}
