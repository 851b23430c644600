internal import Bytes
package import Identity
internal import OrderedCollections

/// The services of one network and their providers, as a value free of I/O.
///
/// A node announces its whole offer to every connected member, and again with each change. A requester therefore knows the
/// providers in advance, and distinguishes a service without any provider from a paused one. Requests do not pass through
/// this value: the driver calls ``route(_:excluding:)`` and opens a stream to the provider that it returns. The driver feeds
/// the value ``Input``s with the time and applies the ``Effect``s it appends, in order.
///
/// It is composed of values that own their state: the ``AdmittedMembers`` and the ``MemberOffers``, the
/// ``ProviderRotation`` over these, the ``OwnAnnouncement`` and a ``RecordRepublisher``.
package struct Services: Sendable {
    /// An input from the driver.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection.
        case memberUp(PeerId)
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// Whether messages to an admitted peer remain unanswered; initially false.
        case memberSuspected(PeerId, Bool)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, ArraySlice<UInt8>)
        /// This node offers these services from now on, and no others; they passed ``Announcement/check(_:)``.
        case offered([ServiceOffer])
        /// The result of writing, or deleting, the record of a service in the hash table.
        case recordWritten(String, Bool)
        /// The time of the last `wake` effect was reached.
        case timeReached
    }

    /// An action for the node that runs the services, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer.
        case send(PeerId, [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// Write a record for ``Limits/recordSeconds`` in the hash table that this node offers a service, or delete it.
        /// Answered by `recordWritten`.
        case record(String, isOffered: Bool)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case violation(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Report that the peer's offered services changed.
        case changed(PeerId)
    }

    /// A peer to send a request to.
    package struct Provider: Hashable, Sendable {
        package let peer: PeerId
        /// Whether the provider declares that the action may be performed twice without harm.
        package let isIdempotent: Bool
    }

    /// The admitted members.
    private var members: AdmittedMembers
    /// The services that they offer.
    private var offers: MemberOffers
    /// The rotation of the providers.
    private var rotation: ProviderRotation
    /// The announcement of this node's own services.
    private var own: OwnAnnouncement
    /// The records of this node's own services in the hash table.
    private var records: RecordRepublisher<String>
    /// The earliest wake that was requested from the driver.
    private var wakeAt: Duration?

    package init(limits: Limits = Limits()) {
        members = AdmittedMembers(limits: limits)
        offers = MemberOffers(limits: limits)
        rotation = ProviderRotation(limits: limits)
        own = OwnAnnouncement(limits: limits)
        records = RecordRepublisher(renewal: limits.recordRenewal, retry: limits.recordRetry)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .memberUp(let peer):
            if members.add(peer), !own.offers.isEmpty { turn.emit(.send(peer, own.bytes)) }
        case .memberDown(let peer):
            members.remove(peer)
            rotation.reset()
            if offers.remove(peer) { turn.emit(.host(.changed(peer))) }
        case .memberSuspected(let peer, let isSuspect): members.setSuspect(isSuspect, peer)
        case .messageReceived(let peer, let bytes): received(bytes, from: peer, &turn)
        case .offered(let offers): offer(offers, &turn)
        case .recordWritten(let service, let isWritten):
            let write = records.noteOutcome(of: service, isWritten: isWritten, at: turn.now.monotonic)
            if let write { perform([write], &turn) }
        case .timeReached:
            wakeAt = nil
            if let dueAt = own.dueAt, dueAt <= turn.now.monotonic { announce(&turn) }
            perform(records.takeDue(at: turn.now.monotonic), &turn)
        }
        arm(&turn)
    }

    private mutating func arm(_ turn: inout Turn) {
        let times = [own.dueAt, records.earliestDue]
        guard let earliest = times.compactMap({ $0 }).min(), earliest != wakeAt else { return }
        wakeAt = earliest
        turn.emit(.wake(at: earliest))
    }

    private mutating func offer(_ offers: [ServiceOffer], _ turn: inout Turn) {
        guard offers != own.offers else { return }
        own.replace(with: offers, at: turn.now.wallSeconds)
        perform(records.setWanted(offers.map(\.path)), &turn)
        if own.plan(at: turn.now.monotonic) { announce(&turn) }
    }

    private func perform(_ writes: [RecordRepublisher<String>.Write], _ turn: inout Turn) {
        for write in writes { turn.emit(.record(write.name, isOffered: write.isPresent)) }
    }

    private mutating func announce(_ turn: inout Turn) {
        own.noteSent(at: turn.now.monotonic)
        for peer in members.all { turn.emit(.send(peer, own.bytes)) }
    }

    private mutating func received(_ bytes: ArraySlice<UInt8>, from peer: PeerId, _ turn: inout Turn) {
        guard members.contains(peer) else { return }
        guard members.takeAnnouncement(of: peer, at: turn.now.monotonic) else {
            return turn.emit(.violation(peer, "announces its services again and again"))
        }
        let announcement: Announcement
        do {
            announcement = try Announcement(bytes)
        } catch {
            return turn.emit(.violation(peer, error.description))
        }
        guard offers.isNews(announcement, of: peer) else { return }
        rotation.reset()
        if offers.replace(announcement, byteCount: bytes.count, of: peer) {
            turn.emit(.host(.changed(peer)))
        }
    }

    // MARK: - Routing

    /// Returns the next provider of a path: running providers take turns, and suspected members are last.
    package mutating func route(_ path: RequestPath, excluding: [PeerId] = []) -> Result<Provider, ServiceFailure> {
        rotation.next(of: path, in: offers, excluding: excluding, suspects: members.suspects)
    }

    /// Whether a path has a provider that is not suspect.
    package func canRoute(_ path: RequestPath, excluding: [PeerId]) -> Bool {
        rotation.providers(of: path, in: offers).contains {
            !excluding.contains($0.peer) && !members.suspects.contains($0.peer)
        }
    }

    // MARK: - Status

    /// The services that a member offers.
    package func offers(of peer: PeerId) -> [ServiceOffer] { offers[peer] }

    /// The services of every member that offers some, in the order of the announcements.
    package var offersByPeer: [(peer: PeerId, offers: [ServiceOffer])] { offers.byPeer }
}

extension ServiceOffer {
    /// The action that stands for a path of this service.
    package func action(matching path: TopicPath) -> ActionOffer? {
        actions.first { action in
            guard let pattern = try? self.pattern(of: action) else { return false }  // checked when it was read
            return pattern.matches(path)
        }
    }
}
