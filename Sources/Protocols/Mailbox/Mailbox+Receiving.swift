internal import Identity
internal import OrderedCollections

// The recipient: mail is collected from its holders, and answered once the application has stored it.
extension Mailbox {
    mutating func setReceiving(_ isReceiving: Bool, _ turn: inout Turn) {
        guard isReceiving != self.isReceiving else { return }
        self.isReceiving = isReceiving
        guard isReceiving else { return search.stop() }
        guard !members.isEmpty else { return }
        search.start(at: turn.now.monotonic)
        // Their notices arrived before the application registered.
        for peer in members.holders { turn.emit(.send(peer, Message.collect.bytes)) }
    }

    mutating func noticed(by peer: PeerId, _ turn: inout Turn) {
        guard isReceiving, budgets.takeNotice(of: peer, at: turn.now.monotonic) else { return }
        turn.emit(.send(peer, Message.collect.bytes))
    }

    /// Collects from the members near to the mailbox; others than holders have nothing to send.
    ///
    /// A holder that connects gives notice.
    mutating func membersFound(_ peers: [PeerId]?, _ turn: inout Turn) {
        search.noteFound(peers, at: turn.now.monotonic)
        guard isReceiving else { return }
        for peer in peers ?? [] where peer != configuration.localPeerId {
            if !members.contains(peer) {
                turn.emit(.connect(peer))
            } else if members.isHolder(peer) {
                turn.emit(.send(peer, Message.collect.bytes))
            }
        }
    }

    mutating func receive(
        _ expirationSeconds: UInt64,
        _ body: [UInt8],
        from peer: PeerId,
        isSender: Bool,
        _ turn: inout Turn
    ) {
        guard isReceiving else { return }
        let mail = Mail(to: ownMailbox, expirationSeconds: expirationSeconds, body: body)
        switch receptions.add(mail.id, byteCount: body.count, from: peer) {
        case .isNew: turn.emit(.host(.receive(mail, from: isSender ? peer : nil)))
        case .isPending, .isRefused: break
        }
    }

    /// Answers the members that sent a mail which the application took or refused.
    mutating func stored(_ ids: [MailId], _ reception: Reception?, _ turn: inout Turn) {
        var answers: OrderedDictionary<PeerId, [MailId]> = [:]
        for id in ids {
            for peer in receptions.take(id) where members.contains(peer) { answers[peer, default: []].append(id) }
        }
        guard let reception else { return }
        for (peer, ids) in answers {
            for start in stride(from: 0, to: ids.count, by: Message.idLimit) {
                let page = Array(ids[start..<min(start + Message.idLimit, ids.count)])
                turn.emit(.send(peer, Message.received(reception, page).bytes))
            }
        }
    }
}
