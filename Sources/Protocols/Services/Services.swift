internal import Bytes
package import Identity
internal import OrderedCollections

/// Who offers which services in one network, as a value free of I/O.
///
/// A node tells every member that it is connected to what it offers, all of it and again with each change, so that a
/// requester knows beforehand whom to ask, and can tell a service that nobody has from one that pauses. Requests
/// themselves do not pass here: the driver asks ``route(_:excluding:)`` and opens a stream to whom it names. The driver feeds the
/// value ``Input``s with the time and carries out the ``Effect``s it appends, in order.
package struct Services: Sendable {
    /// What can happen.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection.
        case memberUp(PeerId)
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// Whether what is sent to an admitted peer stays unanswered; at first it does not.
        case memberSuspected(PeerId, Bool)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, ArraySlice<UInt8>)
        /// This node offers these services from now on, and no others; they passed ``Announcement/check(_:)``.
        case offered([ServiceOffer])
        /// A record of a service was written, or deleted, in the hash table; false when that did not work.
        case recordWritten(String, Bool)
        /// The time of the last `wake` effect came.
        case timeReached
    }

    /// An action for the node that runs the services, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer.
        case send(PeerId, [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// Write, in the hash table, that this node offers a service, for ``Limits/recordSeconds``; or delete that when it
        /// does so no more. Answered by `recordWritten`.
        case record(String, isOffered: Bool)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case offence(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Report that the peer offers other services than before.
        case changed(PeerId)
    }

    /// Whom to ask.
    package struct Provider: Hashable, Sendable {
        package let peer: PeerId
        /// Whether it says that the action may be carried out twice without harm.
        package let isIdempotent: Bool
    }

    /// What a member offers.
    private struct Known: Sendable {
        let version: UInt64
        let offers: [ServiceOffer]
        let byteCount: Int
    }

    /// Who can be asked for a path, or why nobody can.
    private struct Resolution: Sendable {
        var providers: [Provider] = []
        var failure: ServiceFailure?
        /// Whose turn it is.
        var turn: Int
    }

    let limits: Limits
    /// The admitted peers, in order.
    private var members = OrderedSet<PeerId>()
    /// Those of them that may be gone.
    private var suspects = OrderedSet<PeerId>()
    private var known: OrderedDictionary<PeerId, Known> = [:]
    /// How many announcements members may still send.
    private var allowances: [PeerId: Allowance] = [:]
    private var knownBytes = 0
    /// What was found out about paths since the last change.
    private var resolutions: [String: Resolution] = [:]
    /// With whom a path that was not looked up before begins.
    private var nextTurn = 0

    /// What this node offers; nil as long as it never offered anything.
    private var own: Announcement?
    private var ownBytes: [UInt8] = []
    /// When members were last told of a change.
    private var toldAt: Duration?
    /// When they are told next.
    private var tellAt: Duration?
    /// What stands in the hash table of what this node offers.
    var records: OrderedDictionary<String, OwnRecord> = [:]
    /// The earliest wake that the driver was asked for.
    private var armed: Duration?

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        switch input {
        case .memberUp(let peer):
            guard self.members.append(peer).inserted, let own, !own.offers.isEmpty else { return }
            effects.append(.send(peer, self.ownBytes))
        case .memberDown(let peer):
            self.members.remove(peer)
            self.suspects.remove(peer)
            self.allowances[peer] = nil
            if self.forget(peer) { effects.append(.host(.changed(peer))) }
        case .memberSuspected(let peer, let isSuspect):
            self.suspects.remove(peer)
            if isSuspect, self.members.contains(peer) { self.suspects.append(peer) }
        case .messageReceived(let peer, let bytes): self.received(bytes, from: peer, now, &effects)
        case .offered(let offers): self.offer(offers, now, &effects)
        case .recordWritten(let service, let isWritten): self.recordWritten(service, isWritten, now, &effects)
        case .timeReached:
            self.armed = nil
            if let tellAt, tellAt <= now.monotonic { self.tell(now, &effects) }
            self.writeDueRecords(now, &effects)
        }
        self.arm(&effects)
    }

    private mutating func arm(_ effects: inout [Effect]) {
        var earliest = self.tellAt
        for record in self.records.values {
            guard let dueAt = record.dueAt else { continue }
            earliest = min(earliest ?? dueAt, dueAt)
        }
        guard let earliest, earliest != self.armed else { return }
        self.armed = earliest
        effects.append(.wake(at: earliest))
    }

    // MARK: What this node offers

    private mutating func offer(_ offers: [ServiceOffer], _ now: NodeTime, _ effects: inout [Effect]) {
        guard offers != self.own?.offers ?? [] else { return }
        // Seconds in the upper bits: whoever knows an announcement from before a restart takes the later one.
        let version = max((self.own?.version ?? 0) + 1, now.wallSeconds << 20)
        let announcement = Announcement(version: version, offers: offers)
        self.own = announcement
        self.ownBytes = announcement.bytes
        self.keepRecords(of: offers, &effects)
        guard self.tellAt == nil else { return }
        let earliest = self.toldAt.map { $0 + self.limits.announcementInterval } ?? now.monotonic
        guard earliest > now.monotonic else { return self.tell(now, &effects) }
        self.tellAt = earliest
    }

    private mutating func tell(_ now: NodeTime, _ effects: inout [Effect]) {
        self.tellAt = nil
        self.toldAt = now.monotonic
        for peer in self.members { effects.append(.send(peer, self.ownBytes)) }
    }

    // MARK: What others offer

    private mutating func received(
        _ bytes: ArraySlice<UInt8>,
        from peer: PeerId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.members.contains(peer) else { return }
        let rate = Rate(every: self.limits.announcementInterval, atOnce: self.limits.announcementsAtOnce)
        guard self.allowances[peer, default: Allowance()].take(under: rate, at: now.monotonic) else {
            return effects.append(.offence(peer, "announces its services again and again"))
        }
        let announcement: Announcement
        do {
            announcement = try Announcement(bytes)
        } catch {
            return effects.append(.offence(peer, error.description))
        }
        let before = self.known[peer]
        guard announcement.version > before?.version ?? 0 else { return }
        self.forget(peer)
        let hasRoom = self.known.count < self.limits.peers && self.knownBytes + bytes.count <= self.limits.offerBytes
        if hasRoom {
            self.known[peer] = Known(
                version: announcement.version,
                offers: announcement.offers,
                byteCount: bytes.count
            )
            self.knownBytes += bytes.count
        }
        if before?.offers ?? [] != self.offers(of: peer) { effects.append(.host(.changed(peer))) }
    }

    @discardableResult private mutating func forget(_ peer: PeerId) -> Bool {
        self.resolutions.removeAll(keepingCapacity: true)
        guard let known = self.known.removeValue(forKey: peer) else { return false }
        self.knownBytes -= known.byteCount
        return !known.offers.isEmpty
    }

    // MARK: - Routing

    /// Whom to ask next for a path: those that run it take turns, and whoever may be gone comes after all others.
    package mutating func route(_ path: String, excluding: [PeerId] = []) -> Result<Provider, ServiceFailure> {
        if self.resolutions[path] == nil {
            if self.resolutions.count >= self.limits.rememberedPaths { self.resolutions.removeAll() }
            self.resolutions[path] = self.resolve(path)
            self.nextTurn &+= 1
        }
        guard let index = self.resolutions.index(forKey: path) else {
            preconditionFailure("\(path) was just looked up")
        }
        return Self.take(from: &self.resolutions.values[index], excluding, self.suspects)
    }

    /// Whether somebody can be asked for a path who is not suspected to be gone.
    package func canRoute(_ path: String, excluding: [PeerId]) -> Bool {
        let providers = (self.resolutions[path] ?? self.resolve(path)).providers
        return providers.contains { !excluding.contains($0.peer) && !self.suspects.contains($0.peer) }
    }

    private static func take(
        from resolution: inout Resolution,
        _ excluded: [PeerId],
        _ suspects: OrderedSet<PeerId>
    ) -> Result<Provider, ServiceFailure> {
        if let failure = resolution.failure { return .failure(failure) }
        var lastResort: Provider?
        for _ in resolution.providers {
            let provider = resolution.providers[resolution.turn % resolution.providers.count]
            resolution.turn = (resolution.turn + 1) % resolution.providers.count
            if excluded.contains(provider.peer) { continue }
            if !suspects.contains(provider.peer) { return .success(provider) }
            lastResort = lastResort ?? provider
        }
        return lastResort.map { .success($0) } ?? .failure(ServiceFailure(kind: .unreachable))
    }

    private func resolve(_ path: String) -> Resolution {
        let service = path.prefix { $0 != "/" }
        var failure = ServiceFailure(kind: .noService, context: String(service))
        var resolution = Resolution(turn: self.nextTurn)
        guard let concrete = try? TopicPath(path) else {  // no service has an action that is no path
            resolution.failure = failure
            return resolution
        }
        for (peer, known) in self.known {
            guard let offer = known.offers.first(where: { $0.path == service }) else { continue }
            if failure.kind == .noService { failure = ServiceFailure(kind: .noAction, context: path) }
            guard let action = offer.action(matching: concrete) else { continue }
            if failure.kind == .noAction { failure = ServiceFailure(kind: .notRunning, context: String(service)) }
            guard offer.isRunning else { continue }
            resolution.providers.append(Provider(peer: peer, isIdempotent: action.isIdempotent))
        }
        if resolution.providers.isEmpty { resolution.failure = failure }
        return resolution
    }

    // MARK: - Questions

    /// What this node offers.
    package var ownOffers: [ServiceOffer] { self.own?.offers ?? [] }

    /// What a member offers.
    package func offers(of peer: PeerId) -> [ServiceOffer] { self.known[peer]?.offers ?? [] }

    /// What every member offers that offers something, in the order in which they were heard of.
    package var offersByPeer: [(peer: PeerId, offers: [ServiceOffer])] {
        self.known.compactMap { $0.value.offers.isEmpty ? nil : ($0.key, $0.value.offers) }
    }

    /// The members that offer a service, whether it runs or not.
    package func providers(of servicePath: String) -> [PeerId] {
        self.known.compactMap { peer, known in
            known.offers.contains { $0.path == servicePath } ? peer : nil
        }
    }
}

extension ServiceOffer {
    /// The action that stands for a path of this service.
    package func action(matching path: TopicPath) -> ActionOffer? {
        self.actions.first { action in
            guard let pattern = try? self.pattern(of: action) else { return false }  // checked when it was read
            return pattern.matches(path)
        }
    }
}
