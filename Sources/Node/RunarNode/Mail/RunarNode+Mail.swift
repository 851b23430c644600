package import Concurrency
package import Identity
package import Mailbox
internal import Node
internal import NodeCore

// Mail: sealed messages that members hold for a recipient that is offline.
extension RunarNode {
    /// Sends a sealed message to a member, now or as soon as it is connected, and returns once it is stored durably.
    ///
    /// `note` is called once the mail is stored and before it is sent, so that records of `note` exist before any progress.
    /// `homes` are the members that the recipient chose to hold its mail; without any, the nearest ones do. The mail expires
    /// after `lifetimeSeconds`, at most 30 days.
    ///
    /// - Throws: ``NodeError/notAMember(_:)``, ``NodeError/tooLarge(limit:found:)`` and
    ///   ``NodeError/tooMuchMail(_:limit:)``, and then nothing is stored; `StorageError`.
    @discardableResult
    package func submitMail(
        _ body: [UInt8],
        to recipient: PeerId,
        in network: NetworkId,
        lifetimeSeconds: UInt64,
        homes: [PeerId] = [],
        noting note: (MailId) throws -> Void = { _ in }
    ) throws -> MailId {
        guard services.isMember(of: network) else { throw NodeError.notAMember(network) }
        guard 1...Mail.bodyByteLimit ~= body.count else {
            throw NodeError.tooLarge(limit: Mail.bodyByteLimit, found: body.count)
        }
        let mail = Mail(
            to: MailboxId(of: recipient, in: network),
            expirationSeconds: wallSeconds + lifetimeSeconds,
            body: body
        )
        let outgoing = OutgoingMail(mail, to: recipient, homes: homes)
        try mailService.add(mail, outgoing, in: network)
        try note(mail.id)
        applyIfRunning(.mailbox(network, .submitted(outgoing)))
        return mail.id
    }

    /// Returns if a network has room for another outgoing mail; called before a mail is made that costs a one-time key.
    ///
    /// - Throws: ``NodeError/tooMuchMail(_:limit:)``; `StorageError`.
    package func checkRoomForMail(in network: NetworkId) throws { try mailService.checkRoom(in: network) }

    /// The progress of outgoing mails from now on; after a final step the node has forgotten the mail.
    package var mailProgress: AsyncStream<MailProgress> { mailService.progress.listen() }

    /// Takes mail from now on, for a single application; each must be answered with ``answerMail(_:in:_:)``.
    package func openMailbox() -> BoundedChannel<ReceivedMail> {
        let channel = mailService.open()
        applyIfRunning(.receivesMail(true))
        return channel
    }

    /// Takes no more mail.
    package func closeMailbox() {
        mailService.close()
        applyIfRunning(.receivesMail(false))
    }

    /// Answers mails that were stored, durably, or refused; nil if they could not be stored.
    package func answerMail(_ ids: [MailId], in network: NetworkId, _ reception: Reception?) {
        applyIfRunning(.mailbox(network, .stored(ids, reception)))
    }

    /// Notes the recipient's receipt for an outgoing mail.
    package func noteReceipt(of id: MailId, in network: NetworkId) {
        applyIfRunning(.mailbox(network, .receiptReceived(id)))
    }

    /// Deletes the mail on its way to a recipient; nothing more is reported about it.
    ///
    /// - Throws: `StorageError`.
    package func withdrawMail(to recipient: PeerId) throws {
        for network in services.memberships {
            let ids = try mailService.outgoing(to: recipient, in: network)
            try mailService.deleteOutgoing(ids, in: network)
            applyIfRunning(.mailbox(network, .withdrawn(ids)))
        }
    }

    /// Performs an effect of mailboxes other than `hold`, and applies its answer.
    func performMail(_ effect: Mailbox.HostEffect, in network: NetworkId) throws {
        if let answer = try mailService.perform(effect, in: network) { applyIfRunning(.mailbox(network, answer)) }
    }
}
