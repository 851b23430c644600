internal import Concurrency
package import Identity
package import Mailbox
internal import Node
internal import NodeCore
internal import NodeStore

/// A mail for this device that waits for ``RunarNode/answerMail(_:in:_:)``.
package struct ReceivedMail: Sendable {
    package let network: NetworkId
    package let mail: Mail
    /// The sender if it delivered the mail itself; nil if a holder sent it.
    package let sender: PeerId?
}

/// The progress of a mail that this device sends.
package struct MailProgress: Hashable, Sendable {
    package let network: NetworkId
    package let id: MailId
    package let progress: Mailbox.Progress
}

/// The mail of a node on disk: that of its application, and that which it holds for other members.
final class MailService: Sendable {
    /// The mails that wait for the application; further ones are sent again.
    private static let incomingLimit = 1_024
    private static let listenerCapacity = 4_096

    private let store: NodeStore
    /// The outgoing mails of one network that may wait for their delivery.
    private let outgoingLimit: Int
    let progress = Broadcaster<MailProgress>(capacity: listenerCapacity)
    private let incoming = Locked<BoundedChannel<ReceivedMail>?>(nil)

    init(store: NodeStore, outgoingLimit: Int?) {
        self.store = store
        self.outgoingLimit = outgoingLimit ?? Mailbox.Limits().outgoing
    }

    /// Whether the application takes mail.
    var isReceiving: Bool { incoming.withLock { $0 != nil } }

    /// Returns a channel of the mail that arrives from now on; an earlier channel ends.
    func open() -> BoundedChannel<ReceivedMail> {
        let channel = BoundedChannel<ReceivedMail>(limit: Self.incomingLimit)
        let earlier = incoming.withLock { incoming in
            defer { incoming = channel }
            return incoming
        }
        earlier?.finish(discarding: true)
        return channel
    }

    func close() {
        let channel = incoming.withLock { incoming in
            defer { incoming = nil }
            return incoming
        }
        channel?.finish(discarding: true)
    }

    // MARK: Effects

    /// Stores mails of other members together, so that a batch waits for the disk once.
    ///
    /// - Throws: `StorageError`, and then none is stored.
    func hold(_ mails: [(network: NetworkId, mail: Mail, description: HeldMail)]) throws {
        try store.addMail(mails.map { (StoredMail($0.description, in: $0.network), $0.mail.body) })
    }

    /// Performs an effect of mailboxes, and returns the input that answers it.
    ///
    /// - Throws: `StorageError`; the driver answers then.
    func perform(_ effect: Mailbox.HostEffect, in network: NetworkId) throws -> Mailbox.HostInput? {
        switch effect {
        case .hold: return nil  // see hold(_:)
        case .readOutgoing(let id, let relays):
            try store.addRelays(relays, of: id.bytes, in: network)
            return .outgoingRead(id, try mails([id], in: .outgoing, of: network).first)
        case .readHeld(let ids, let owner):
            return .heldRead(for: owner, try mails(ids, in: .held, of: network))
        case .delete(let ids):
            try store.deleteMail(ids.map(\.bytes), in: .held, of: network)
            return nil
        case .progressed(let id, let progress):
            switch progress {
            case .held(let holders): try store.setHolders(holders, of: id.bytes, in: network)
            case .delivered, .refused, .expired: try store.deleteMail([id.bytes], in: .outgoing, of: network)
            }
            self.progress.send(MailProgress(network: network, id: id, progress: progress))
            return nil
        case .receive(let mail, let sender):
            let channel = incoming.withLock { $0 }
            let isTaken = channel?.offer(ReceivedMail(network: network, mail: mail, sender: sender)) ?? false
            return isTaken ? nil : .stored([mail.id], nil)
        }
    }

    private func mails(_ ids: [MailId], in folder: StoredMail.Folder, of network: NetworkId) throws -> [Mail] {
        let bodies = try store.mailBodies(of: ids.map(\.bytes), in: folder, of: network)
        return ids.compactMap { id in
            guard let (mailbox, expiration, body) = bodies[id.bytes], let mailbox = MailboxId(mailbox) else {
                return nil
            }
            let mail = Mail(to: mailbox, expirationSeconds: expiration, body: body)
            return mail.id == id ? mail : nil  // damaged on disk
        }
    }

    // MARK: The start

    /// The inputs that restore a network's mailboxes from the store.
    func stored(of network: NetworkId) throws -> [Input] {
        let held = try store.mails(in: .held, of: network).compactMap(HeldMail.init)
        let outgoing = try store.mails(in: .outgoing, of: network).compactMap(OutgoingMail.init)
        let inputs = held.isEmpty ? [] : [Input.mailbox(network, .heldLoaded(held))]
        return inputs + outgoing.map { .mailbox(network, .submitted($0)) }
    }

    /// Stores a mail of the application, durably.
    ///
    /// - Throws: ``NodeError/tooMuchMail(_:limit:)``, and then nothing is stored; `StorageError`.
    func add(_ mail: Mail, _ description: OutgoingMail, in network: NetworkId) throws {
        let stored = StoredMail(description, mail.mailbox, in: network)
        guard try store.addOutgoingMail(stored, body: mail.body, limit: outgoingLimit) else {
            throw NodeError.tooMuchMail(network, limit: outgoingLimit)
        }
    }

    /// Returns if there is room for another outgoing mail.
    ///
    /// - Throws: ``NodeError/tooMuchMail(_:limit:)``; `StorageError`.
    func checkRoom(in network: NetworkId) throws {
        guard try store.outgoingMailCount(in: network) < outgoingLimit else {
            throw NodeError.tooMuchMail(network, limit: outgoingLimit)
        }
    }

    /// The outgoing mails to a recipient.
    func outgoing(to recipient: PeerId, in network: NetworkId) throws -> [MailId] {
        try store.mails(in: .outgoing, of: network).filter { $0.peerId == recipient }.compactMap { MailId($0.mailId) }
    }

    /// Deletes outgoing mails.
    func deleteOutgoing(_ ids: [MailId], in network: NetworkId) throws {
        try store.deleteMail(ids.map(\.bytes), in: .outgoing, of: network)
    }
}

extension StoredMail {
    fileprivate init(_ mail: HeldMail, in network: NetworkId) {
        self.init(
            folder: .held,
            networkId: network,
            mailId: mail.id.bytes,
            mailbox: mail.mailbox.bytes,
            peerId: mail.depositor,
            expiration: mail.expirationSeconds,
            byteCount: mail.byteCount
        )
    }

    fileprivate init(_ mail: OutgoingMail, _ mailbox: MailboxId, in network: NetworkId) {
        self.init(
            folder: .outgoing,
            networkId: network,
            mailId: mail.id.bytes,
            mailbox: mailbox.bytes,
            peerId: mail.recipient,
            expiration: mail.expirationSeconds,
            byteCount: mail.byteCount,
            homes: mail.homes,
            holders: mail.holders,
            relays: mail.relays
        )
    }
}

extension HeldMail {
    fileprivate init?(_ mail: StoredMail) {
        guard let id = MailId(mail.mailId), let mailbox = MailboxId(mail.mailbox) else { return nil }
        self.init(
            id: id,
            mailbox: mailbox,
            expirationSeconds: mail.expiration,
            byteCount: mail.byteCount,
            depositor: mail.peerId
        )
    }
}

extension OutgoingMail {
    fileprivate init?(_ mail: StoredMail) {
        guard let id = MailId(mail.mailId) else { return nil }
        self.init(
            id: id,
            recipient: mail.peerId,
            expirationSeconds: mail.expiration,
            byteCount: mail.byteCount,
            homes: mail.homes,
            holders: mail.holders,
            relays: mail.relays
        )
    }
}
