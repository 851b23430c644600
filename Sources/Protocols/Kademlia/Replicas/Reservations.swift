internal import Identity
internal import OrderedCollections

/// The locations that this node reserves for conditional writes, each for one member and a few seconds.
struct Reservations: Sendable {
    private struct Reservation: Sendable {
        let peer: PeerId
        let until: Duration
    }

    /// A conditional write takes about a second.
    private static let duration = Duration.seconds(10)

    private let local: PeerId
    private let limit: Int
    private let limitPerMember: Int
    /// The oldest first.
    private var reservations: OrderedDictionary<Bytes32, Reservation> = [:]

    init(local: PeerId, limits: Kademlia.Limits) {
        self.local = local
        limit = limits.reservations
        limitPerMember = limits.reservationsPerMember
    }

    /// Whether another member than `peer` has reserved the location.
    func isReserved(_ location: Bytes32, against peer: PeerId, at now: Duration) -> Bool {
        guard let reservation = reservations[location] else { return false }
        return reservation.peer != peer && reservation.until > now
    }

    /// Reserves a location that ``isReserved(_:against:at:)`` by no other member; returns whether there was room.
    mutating func reserve(_ location: Bytes32, for peer: PeerId, at now: Duration) -> Bool {
        if reservations[location] == nil, !hasRoom(for: peer, at: now) { return false }
        reservations[location] = Reservation(peer: peer, until: now + Self.duration)
        return true
    }

    private mutating func hasRoom(for peer: PeerId, at now: Duration) -> Bool {
        reservations.removeAll { $0.value.until <= now }
        guard reservations.count < limit else { return false }
        let count = reservations.values.count { $0.peer == peer }
        return peer == local || count < limitPerMember
    }

    /// Releases a location if the peer has reserved it.
    mutating func release(_ location: Bytes32, by peer: PeerId) {
        if reservations[location]?.peer == peer { reservations[location] = nil }
    }
}
