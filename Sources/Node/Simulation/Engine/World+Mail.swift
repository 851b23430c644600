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
        self.apply(.receivesMail(true), to: node)
        for input in self.nodes[node].disk.mail.inputs {
            self.apply(.mailbox(self.keys.networkId, input), to: node)
        }
    }

    /// Performs an effect of the mailboxes of a node; the answer follows as an event.
    mutating func carryOut(_ effect: Mailbox.HostEffect, of node: Int) {
        self.note(effect, of: node)
        guard let answer = self.nodes[node].disk.mail.perform(effect) else { return }
        self.queue.schedule(
            .mailAnswer,
            at: self.queue.now + Self.diskDelay,
            node: node,
            stamp: self.nodes[node].generation,
            payload: self.mailAnswers.insert(answer)
        )
    }

    /// Gives an answer to the mailboxes of a node; it is dropped if that was stopped meanwhile.
    mutating func deliverMailAnswer(_ event: Event, to node: Int) {
        guard let answer = self.mailAnswers.remove(event.payload), self.nodes[node].generation == event.stamp else {
            return
        }
        self.record.note(.mailAnswer, at: self.queue.now, of: node, UInt64(event.payload))
        self.apply(.mailbox(self.keys.networkId, answer), to: node)
    }

    /// Notes an effect before the disk performs it.
    private mutating func note(_ effect: Mailbox.HostEffect, of node: Int) {
        let now = self.queue.now
        switch effect {
        case .readOutgoing, .readHeld:
            // Reading changes no mail.
            break
        case .hold(let mail, _):
            self.record.noteMail(mail.id, at: now, of: node)
            self.record.mails.noteStored(mail.id, at: now, by: node)
        case .delete(let ids):
            self.noteMeetings()
            for id in ids {
                self.record.noteMail(id, at: now, of: node)
                self.record.mails.noteDeleted(id, at: now, by: node)
            }
        case .progressed(let id, let progress):
            self.record.noteMail(id, at: now, of: node)
            guard progress.isFinal else { return }
            self.noteMeetings()
            if progress == .refused { self.record.mails.noteRefusal(of: id) }
            self.record.mails.noteDeleted(id, at: now, by: node)
        case .receive(let mail, _):
            guard !self.nodes[node].disk.mail.hasReceived(mail.id) else { return }
            self.record.noteMail(mail.id, at: now, of: node)
            self.record.mails.noteShown(mail, at: now, startedAt: self.nodes[node].startedAt)
        }
    }

    /// Notes the mails that a recipient could have collected by now; called before something ends its chance.
    mutating func noteMeetings() {
        self.record.mails.noteMeetings(
            in: self.nodes,
            separatedUntil: self.network.partition.end,
            at: self.queue.now
        )
    }

    // MARK: Sending

    /// Sends a mail from a random running node to a random member, which may be offline.
    mutating func sendMail(byteCount: Int, lifetime: Duration) {
        self.sampleHeldMail()
        guard let sender = self.drawAsker(), let recipient = self.drawRecipient(of: sender) else { return }
        let owner = self.nodes[recipient].peerId
        let mail = Mail(
            to: MailboxID(of: owner, in: self.keys.networkId),
            expirationSeconds: self.time(of: sender).wallSeconds + UInt64(lifetime.components.seconds),
            body: self.stepChance.bytes(byteCount)
        )
        let description = OutgoingMail(mail, to: owner)
        let now = self.queue.now
        self.record.note(.task, at: now, of: sender, UInt64(recipient))
        self.record.mails.begin(mail, from: sender, to: recipient, at: now, until: now + lifetime.nanoseconds)
        self.nodes[sender].disk.mail.add(mail, description)
        self.apply(.mailbox(self.keys.networkId, .submitted(description)), to: sender)
    }

    private mutating func drawRecipient(of sender: Int) -> Int? {
        let members = self.nodes.indices.filter {
            $0 != sender && !self.nodes[$0].isGone && !self.nodes[$0].isHostile
                && !self.record.revocations.isVictim(self.nodes[$0].peerId)
        }
        return members.randomElement(using: &self.stepChance)
    }

    private mutating func sampleHeldMail() {
        for node in self.nodes.indices where !self.nodes[node].isGone {
            let (mails, bytes) = self.nodes[node].disk.mail.heldAmount
            self.record.mails.noteHeld(mails: mails, bytes: bytes)
        }
    }
}
