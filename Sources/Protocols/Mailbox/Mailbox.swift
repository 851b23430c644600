package import Bytes
package import Identity

/// The mailboxes of one network, as a value free of I/O: store and forward of sealed messages for members that are offline.
///
/// A node has four roles at once. As **sender** it delivers mail to a recipient that is connected, and otherwise
/// deposits it with ``Limits/holders`` members, drawn among the nearest to the recipient's ``MailboxId``. As **holder** it
/// stores mail of other members until its owner collects it or it expires. As **relay** it passes on deposits that are
/// sealed to a holder, as the relay of Oblivious HTTP (RFC 9458) does: the holder does not learn the sender, and the relay
/// neither the mailbox nor the content. As **recipient** it searches for the members near to its mailbox, and collects its
/// mail from each holder among them. No holder announces that it has mail.
///
/// Mail is transported at least once. The application answers each mail with ``HostInput/stored(_:_:)`` and ignores one
/// that it has, so that it shows each once. A holder deletes a mail when its owner confirmed it, and a sender when the
/// application reports the recipient's receipt.
///
/// It is composed of values that own their state: the admitted ``Members``, the ``Outbox`` of the sender, the
/// ``Holdings`` and ``MailCollections`` of the holder, the ``Relays``, the ``Receptions`` and ``HolderSearch`` of the
/// recipient, and the ``Budgets`` of the other members.
package struct Mailbox: Sendable {
    /// The configuration of a mailbox value.
    package struct Configuration: Sendable {
        package var localPeerId: PeerId
        package var networkId: NetworkId
        /// 32 random bytes of this process, from which the key for deposits and the receipts are derived.
        package var secret: SecretBytes
        /// Chooses relays; not a secret.
        package var randomSeed: UInt64
        /// Whether this node holds mail of other members.
        package var holdsMail: Bool
        package var limits: Limits
        /// Seals a deposit to a holder's key; the result differs each time.
        package var seal: @Sendable (_ message: [UInt8], SealingKey, _ info: [UInt8]) -> [UInt8]?

        package init(
            localPeerId: PeerId,
            networkId: NetworkId,
            secret: SecretBytes,
            randomSeed: UInt64,
            holdsMail: Bool = true,
            limits: Limits = Limits(),
            seal: @escaping @Sendable ([UInt8], SealingKey, [UInt8]) -> [UInt8]? = { message, key, info in
                key.seal(message, info: info)
            }
        ) {
            self.localPeerId = localPeerId
            self.networkId = networkId
            self.secret = secret
            self.randomSeed = randomSeed
            self.holdsMail = holdsMail
            self.limits = limits
            self.seal = seal
        }
    }

    /// An event of one network's mailboxes.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection.
        case memberUp(PeerId)
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// Whether the messages to an admitted peer stay unanswered; at first they do not.
        case memberSuspected(PeerId, Bool)
        /// The peer was admitted in an earlier run, or there is other evidence that it is a member.
        case memberRemembered(PeerId)
        /// The network's owner revoked the peer: mail for it, and mail that it deposited, is deleted, in every role.
        case memberRevoked(PeerId)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, ArraySlice<UInt8>)
        /// The members that a `search` effect found; nil if it failed.
        case membersFound([PeerId]?)
        /// The time of the last `wake` effect was reached.
        case timeReached
        /// An event at the driver of the node.
        case host(HostInput)
    }

    /// An event at the driver of the node: of the application or of the disk.
    package enum HostInput: Sendable {
        /// The application sends a mail, which is stored, or sent it in an earlier run.
        case submitted(OutgoingMail)
        /// The application no longer sends these mails; nothing more is reported about them.
        case withdrawn([MailId])
        /// The application has the recipient's receipt for a mail.
        case receiptReceived(MailId)
        /// The body of an outgoing mail, or nil if it no longer exists.
        case outgoingRead(MailId, Mail?)

        /// The mails that an earlier run holds.
        case heldLoaded([HeldMail])
        /// The mail of a `hold` effect is stored, durably, or was not stored.
        case held(MailId, Bool)
        /// The mails of a `readHeld` effect that are still there.
        case heldRead(for: PeerId, [Mail])

        /// Whether the application takes mail from now on.
        case receiving(Bool)
        /// The application stored mails, durably, or had them before, or refuses them; nil if it could not store them.
        case stored([MailId], Reception?)
    }

    /// An action for the node that runs the mailboxes, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer.
        case send(PeerId, [UInt8])
        /// Connect to a member that may hold mail, or will.
        case connect(PeerId)
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// Look up, in the hash table, the members nearest to a place among their ids; answered by `membersFound`.
        case search(Bytes32)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case violation(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Store which members are requested to relay an outgoing mail, then read its body; answered by `outgoingRead`.
        case readOutgoing(MailId, relays: [PeerId])
        /// Store and report the progress of an outgoing mail; after the last step its body is no longer needed.
        case progressed(MailId, Progress)
        /// Store a mail of another member; answered by `held`.
        case hold(Mail, HeldMail)
        /// Read mails that this node holds; answered by `heldRead`.
        case readHeld([MailId], for: PeerId)
        /// Delete mails that this node holds.
        case delete([MailId])
        /// Give a mail to the application, with its sender if that delivered it itself; answered by `stored`.
        case receive(Mail, from: PeerId?)
    }

    /// The progress of an outgoing mail.
    package enum Progress: Hashable, Sendable {
        /// These members hold the mail.
        case held(by: [PeerId])
        /// The recipient has stored the mail; the last step.
        case delivered
        /// The recipient refused the mail; the last step.
        case refused
        /// The mail expired before it was delivered; the last step.
        case expired

        /// Whether the mail makes no further progress.
        package var isFinal: Bool {
            switch self {
            case .held: false
            case .delivered, .refused, .expired: true
            }
        }
    }

    /// The interval at which expired mail is looked for.
    static let expiryInterval = Duration.seconds(30)

    let configuration: Configuration
    let ownMailbox: MailboxId
    /// The key to which deposits with this node are sealed.
    let key: SealingKeyPair
    var random: SeededGenerator
    var members = Members()
    var budgets: Budgets
    /// The number of the last request to another member.
    var lastRequest: UInt32 = 0
    // Sender.
    var outbox = Outbox()
    var retryAt: Duration?
    // Holder.
    var holdings: Holdings
    var collections: MailCollections
    var pendingDeposits = PendingDeposits()
    // Relay.
    var relays: Relays
    // Recipient.
    var receptions: Receptions
    var isReceiving = false
    var search: HolderSearch
    // Time.
    var expiryAt: Duration?
    private var wakeAt: Duration?

    package init(_ configuration: Configuration) {
        let limits = configuration.limits
        self.configuration = configuration
        ownMailbox = MailboxId(of: configuration.localPeerId, in: configuration.networkId)
        key = Self.depositKey(configuration)
        random = SeededGenerator(seed: configuration.randomSeed)
        budgets = Budgets(limits: limits)
        holdings = Holdings(limits: limits)
        collections = MailCollections(limits: limits)
        relays = Relays(limits: limits)
        receptions = Receptions(limits: limits)
        search = HolderSearch(of: ownMailbox, limits: limits)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .memberUp(let peer): memberUp(peer, &turn)
        case .memberDown(let peer): memberDown(peer, &turn)
        case .memberSuspected(let peer, let isSuspect): members.setSuspect(isSuspect, peer)
        case .memberRemembered(let peer): holdings.noteMet(mailbox(of: peer))
        case .memberRevoked(let peer): memberRevoked(peer, &turn)
        case .messageReceived(let peer, let bytes): received(bytes, from: peer, &turn)
        case .membersFound(let peers): membersFound(peers, &turn)
        case .timeReached: timeReached(&turn)
        case .host(let input): handle(input, &turn)
        }
        advanceOutbox(&turn)
        arm(&turn)
    }

    private mutating func handle(_ input: HostInput, _ turn: inout Turn) {
        switch input {
        case .submitted(let mail):
            submit(mail)
            hastenExpiry(of: mail.expirationSeconds, turn.now)
        case .withdrawn(let ids): for id in ids { outbox.remove(id) }
        case .receiptReceived(let id): finish(id, .delivered, &turn)
        case .outgoingRead(let id, let mail): send(id, mail, &turn)
        case .heldLoaded(let mails):
            for mail in mails {
                load(mail, &turn)
                hastenExpiry(of: mail.expirationSeconds, turn.now)
            }
        case .held(let id, let isHeld): depositStored(id, isHeld, &turn)
        case .heldRead(let owner, let mails): sendPage(mails, to: owner, &turn)
        case .receiving(let isReceiving): setReceiving(isReceiving, &turn)
        case .stored(let ids, let reception): stored(ids, reception, &turn)
        }
    }

    // MARK: Members

    private mutating func memberUp(_ peer: PeerId, _ turn: inout Turn) {
        let mailbox = mailbox(of: peer)
        guard members.add(peer, mailbox: mailbox) else { return }
        holdings.noteMet(mailbox)
        budgets.connect(peer)
        if configuration.holdsMail { turn.emit(.send(peer, Message.key(key.publicKey).bytes)) }
        offerCollection(to: peer, &turn)
        outbox.recipientUp(peer)
        if isReceiving { search.start(at: turn.now.monotonic) }
    }

    private mutating func memberDown(_ peer: PeerId, _ turn: inout Turn) {
        members.remove(peer)
        budgets.disconnect(peer)
        collections.end(peer)
        outbox.memberDown(peer)
        failRelays(gone: peer, &turn)
        if members.isEmpty { search.stop() }
    }

    private mutating func memberRevoked(_ peer: PeerId, _ turn: inout Turn) {
        members.remove(peer)
        budgets.remove(peer)
        collections.end(peer)
        for id in outbox.mails(to: peer) { finish(id, .refused, &turn) }
        delete(holdings.revoke(peer, mailbox: mailbox(of: peer)), &turn)
    }

    func mailbox(of peer: PeerId) -> MailboxId { MailboxId(of: peer, in: configuration.networkId) }

    // MARK: Messages

    private mutating func received(_ bytes: ArraySlice<UInt8>, from peer: PeerId, _ turn: inout Turn) {
        guard members.contains(peer) else { return }
        let message: Message
        do throws(BytesError) {
            message = try Message(bytes)
        } catch {
            return turn.emit(.violation(peer, "a message of the mailbox: \(error)"))
        }
        switch message {
        case .key(let key):
            guard budgets.takeKey(of: peer, at: turn.now.monotonic), members.setKey(key, of: peer) else { return }
            outbox.enqueueUnheld(configuration.limits.holders)
        case .deliver(let expirationSeconds, let body):
            receive(expirationSeconds, body, from: peer, isSender: true, &turn)
        case .mail(let expirationSeconds, let body):
            receive(expirationSeconds, body, from: peer, isSender: false, &turn)
        case .deposit(let request, let bytes):
            deposit(bytes, DepositSource(peer: peer, request: request), &turn)
        case .relayed(let request, let sealed):
            openDeposit(sealed, DepositSource(peer: peer, request: request), &turn)
        case .relay(let request, let holder, let sealed):
            relay(sealed, to: holder, DepositSource(peer: peer, request: request), &turn)
        case .reply(let request, let status, let receipt):
            replied(request, status, receipt, from: peer, &turn)
        case .notice: noticed(by: peer, &turn)
        case .collect: collect(peer, &turn)
        case .received(let reception, let ids): confirmed(reception, ids, by: peer, &turn)
        }
    }

    // MARK: Time

    private mutating func timeReached(_ turn: inout Turn) {
        wakeAt = nil
        outbox.expireAttempts(at: turn.now.monotonic)
        failRelays(&turn)
        if let retryAt, retryAt <= turn.now.monotonic {
            self.retryAt = nil
            outbox.retryAll()
        }
        if let place = search.takeDue(at: turn.now.monotonic) { turn.emit(.search(place)) }
        if let expiryAt, expiryAt <= turn.now.monotonic {
            self.expiryAt = nil
            for id in outbox.expired(at: turn.now.wallSeconds) { finish(id, .expired, &turn) }
            delete(holdings.expired(at: turn.now.wallSeconds), &turn)
        }
    }

    /// Looks for expired mail at once if a mail expired while the node was off, so that no member receives it.
    private mutating func hastenExpiry(of expirationSeconds: UInt64, _ now: NodeTime) {
        if UnixTime.isPast(expirationSeconds, at: now.wallSeconds) { expiryAt = now.monotonic }
    }

    private mutating func arm(_ turn: inout Turn) {
        if outbox.isEmpty {
            retryAt = nil
        } else {
            retryAt = retryAt ?? turn.now.monotonic + configuration.limits.retryInterval
        }
        if outbox.isEmpty, holdings.total.mails == 0 {
            expiryAt = nil
        } else {
            expiryAt = expiryAt ?? turn.now.monotonic + Self.expiryInterval
        }
        let times = [
            outbox.earliestDeadline, relays.earliestDeadline, retryAt, search.dueAt, expiryAt,
        ]
        guard let earliest = times.compactMap({ $0 }).min(), earliest != wakeAt else { return }
        wakeAt = earliest
        turn.emit(.wake(at: earliest))
    }

    // MARK: Status

    /// The mails that this node sends and that have not reached their recipient.
    package var outgoingCount: Int { outbox.count }

    /// The mails that this node holds for others, and their bytes.
    package var heldAmount: (mails: Int, bytes: Int) { (holdings.total.mails, holdings.total.bytes) }
}
