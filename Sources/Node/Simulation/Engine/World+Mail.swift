internal import Bytes
internal import Identity
internal import Mailbox
internal import NodeCore

// Mail: the disks and applications of nodes, and the mails that a scenario sends.
extension World {
    /// The time from an effect to its answer by the disk or the application.
    private static let diskDelay = Duration.milliseconds(2).nanoseconds

    // MARK: Disks and applications

    /// Restores the mail of a new core from its disk, and notes that its application receives mail.
    mutating func readMail(of node: Int) {
        apply(.receivesMail(true), to: node)
        for input in nodes[node].disk.mail.inputs {
            apply(.mailbox(keys.networkId, input), to: node)
        }
    }

    /// Performs an effect of the mailboxes of a node; the answer follows as an event.
    mutating func perform(_ effect: Mailbox.HostEffect, of node: Int) {
        note(effect, of: node)
        guard let answer = nodes[node].disk.mail.perform(effect) else { return }
        queue.schedule(
            .mailAnswer,
            at: queue.now + Self.diskDelay,
            node: node,
            stamp: nodes[node].generation,
            payload: mailAnswers.insert(answer)
        )
    }

    /// Gives an answer to the mailboxes of a node; it is dropped if that was stopped meanwhile.
    mutating func deliverMailAnswer(_ event: Event, to node: Int) {
        guard let answer = mailAnswers.remove(event.payload), nodes[node].generation == event.stamp else { return }
        record.note(.mailAnswer, at: queue.now, of: node, UInt64(event.payload))
        apply(.mailbox(keys.networkId, answer), to: node)
    }

    /// Notes an effect before the disk performs it.
    private mutating func note(_ effect: Mailbox.HostEffect, of node: Int) {
        let now = queue.now
        switch effect {
        case .readOutgoing, .readHeld:
            // Reading changes no mail.
            break
        case .hold(let mail, _):
            record.noteMail(mail.id, at: now, of: node)
            record.mails.noteStored(mail.id, at: now, by: node)
        case .delete(let ids):
            noteMeetings()
            for id in ids {
                record.noteMail(id, at: now, of: node)
                record.mails.noteDeleted(id, at: now, by: node)
            }
        case .progressed(let id, let progress):
            record.noteMail(id, at: now, of: node)
            guard progress.isFinal else { return }
            noteMeetings()
            if progress == .refused { record.mails.noteRefusal(of: id) }
            record.mails.noteDeleted(id, at: now, by: node)
        case .receive(let mail, _):
            guard !nodes[node].disk.mail.hasReceived(mail.id) else { return }
            record.noteMail(mail.id, at: now, of: node)
            record.mails.noteShown(mail, at: now, startedAt: nodes[node].startedAt)
        }
    }

    /// Notes the mails that a recipient could have collected by now; called before something ends its chance.
    mutating func noteMeetings() {
        record.mails.noteMeetings(
            in: nodes,
            separatedUntil: network.partition.end,
            at: queue.now
        )
    }

    // MARK: Sending

    /// Sends a mail from a random running node to a random member, which may be offline.
    mutating func sendMail(byteCount: Int, lifetime: Duration) {
        sampleHeldMail()
        guard let sender = drawAsker(), let recipient = drawRecipient(of: sender) else { return }
        let owner = nodes[recipient].peerId
        let mail = Mail(
            to: MailboxId(of: owner, in: keys.networkId),
            expirationSeconds: time(of: sender).wallSeconds + UInt64(lifetime.components.seconds),
            body: stepChance.bytes(byteCount)
        )
        let description = OutgoingMail(mail, to: owner)
        let now = queue.now
        record.note(.task, at: now, of: sender, UInt64(recipient))
        record.mails.begin(mail, from: sender, to: recipient, at: now, until: now + lifetime.nanoseconds)
        nodes[sender].disk.mail.add(mail, description)
        apply(.mailbox(keys.networkId, .submitted(description)), to: sender)
    }

    private mutating func drawRecipient(of sender: Int) -> Int? {
        let members = nodes.indices.filter {
            $0 != sender && !nodes[$0].isGone && !nodes[$0].isHostile
                && !record.revocations.isVictim(nodes[$0].peerId)
        }
        return members.randomElement(using: &stepChance)
    }

    private mutating func sampleHeldMail() {
        for node in nodes.indices where !nodes[node].isGone {
            let (mails, bytes) = nodes[node].disk.mail.heldAmount
            record.mails.noteHeld(mails: mails, bytes: bytes)
        }
    }
}
