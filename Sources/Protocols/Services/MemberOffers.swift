internal import Identity
internal import OrderedCollections

/// The services that members offer, as they announced them, within bounds.
struct MemberOffers: Sendable {
    private struct Known: Sendable {
        let version: UInt64
        let offers: [ServiceOffer]
        let byteCount: Int
    }

    private let peerLimit: Int
    private let byteLimit: Int
    /// In the order of the announcements.
    private var known: OrderedDictionary<PeerId, Known> = [:]
    private var byteCount = 0

    init(limits: Services.Limits) {
        peerLimit = limits.peers
        byteLimit = limits.offerBytes
    }

    subscript(peer: PeerId) -> [ServiceOffer] { known[peer]?.offers ?? [] }

    /// Whether an announcement is later than the known one.
    func isNews(_ announcement: Announcement, of peer: PeerId) -> Bool {
        announcement.version > known[peer]?.version ?? 0
    }

    /// Replaces the offers of a member, or forgets them without room for the new ones; returns whether they changed.
    mutating func replace(_ announcement: Announcement, byteCount: Int, of peer: PeerId) -> Bool {
        let before = self[peer]
        remove(peer)
        if known.count < peerLimit, self.byteCount + byteCount <= byteLimit {
            known[peer] = Known(
                version: announcement.version,
                offers: announcement.offers,
                byteCount: byteCount
            )
            self.byteCount += byteCount
        }
        return before != self[peer]
    }

    /// Forgets the offers of a member; returns whether it had any.
    @discardableResult
    mutating func remove(_ peer: PeerId) -> Bool {
        guard let known = self.known.removeValue(forKey: peer) else { return false }
        byteCount -= known.byteCount
        return !known.offers.isEmpty
    }

    /// Returns the members that run a service with an action for `path`, or the reason why none does.
    func resolve(_ path: RequestPath) -> Result<[Services.Provider], ServiceFailure> {
        let service = path.servicePath
        var failure = ServiceFailure(kind: .noService, context: service)
        var providers: [Services.Provider] = []
        for (peer, known) in self.known {
            guard let offer = known.offers.first(where: { $0.path == service }) else { continue }
            if failure.kind == .noService { failure = ServiceFailure(kind: .noAction, context: path.text) }
            guard let action = offer.action(matching: path.topic) else { continue }
            if failure.kind == .noAction { failure = ServiceFailure(kind: .notRunning, context: service) }
            guard offer.isRunning else { continue }
            providers.append(Services.Provider(peer: peer, isIdempotent: action.isIdempotent))
        }
        return providers.isEmpty ? .failure(failure) : .success(providers)
    }

    /// The offers of every member that offers something, in the order of the announcements.
    var byPeer: [(peer: PeerId, offers: [ServiceOffer])] {
        known.compactMap { $0.value.offers.isEmpty ? nil : ($0.key, $0.value.offers) }
    }
}
