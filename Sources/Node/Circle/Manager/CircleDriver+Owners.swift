internal import CircleModel
internal import Concurrency
internal import Identity
internal import Logging
internal import RunarNode
internal import SealedMessages

// The owners of devices: the cards of two people may name one device, and it belongs to one of them.
extension CircleDriver {
    /// The seconds by which the clock of another device may be ahead.
    ///
    /// Holders refuse mail of a clock that is further ahead.
    static let clockTolerance: UInt64 = 86_400

    /// The person to whom a device belongs; nil if no card names it.
    func owner(of device: PeerId) -> PublicID? {
        device == localPeerId ? ownId : state.withLock { $0.owner(of: device) }
    }

    /// The trusted person whose device this is; this device's person for another device of that person.
    func trustedPerson(of device: PeerId) -> PublicID? {
        device == localPeerId ? nil : state.withLock { $0.trustedOwner(of: device) }
    }

    /// The devices on the card of a person, without those that belong to another one.
    func devices(belongingTo id: PublicID) -> [PeerId] { devices(belongingTo: id, in: state.withLock { $0 }) }

    func devices(belongingTo id: PublicID, in state: State) -> [PeerId] {
        (state.people[id]?.devices ?? []).filter { $0 != localPeerId && state.owner(of: $0) == id }
    }

    /// The devices on the card of a person, without those that belong to this device's person or to a trusted one.
    ///
    /// The cards of several people who ask may name one device.
    func unownedDevices(of person: KnownPerson) -> [PeerId] {
        person.devices.filter { $0 != localPeerId && trustedPerson(of: $0) == nil }
    }

    /// The devices that a newer card of a person does not name any longer, without those that belong to this person or to a
    /// trusted one.
    func devices(of id: PublicID, missingIn card: ProfileCard) -> [PeerId] {
        var after = state.withLock { $0 }
        let earlier = after.people[id]?.devices ?? []
        after.people[id]?.card = card
        return earlier.filter { device in
            !card.devices.contains(device) && device != localPeerId && after.trustedOwner(of: device) == nil
        }
    }

    /// Checks that a card of another person takes no device from this device's person or from a trusted one.
    ///
    /// An earlier statement of such a device has no effect, and the card is accepted. A later one is refused until the other
    /// card no longer names the device.
    ///
    /// - Throws: ``CircleError/deviceOfAnother(_:_:)``; ``CircleError/clockAhead(_:)``.
    func checkDevices(of card: ProfileCard) throws(CircleError) {
        let (latest, id) = (milliseconds / 1_000 + Self.clockTolerance, card.publicID)
        let state = state.withLock { $0 }
        for entry in card.entries {
            guard entry.signedSeconds <= latest else { throw .clockAhead(entry.peerId) }
            let owner = state.trustedOwner(of: entry.peerId)
            guard let owner, owner != id, let claim = state.card(of: owner)?.entry(of: entry.peerId) else { continue }
            guard entry.signedSeconds < claim.signedSeconds else { throw .deviceOfAnother(entry.peerId, owner) }
        }
    }

    /// Whether a card that arrived may be stored; the reason of a refusal goes to the log.
    func mayTake(_ card: ProfileCard) -> Bool {
        do {
            try checkDevices(of: card)
            return true
        } catch {
            node.logs[.messages].warning("the card of \(card.publicID) is refused: \(error)")
            return false
        }
    }

    /// Lifts the bans that the revocation of another person left on devices of a trusted person.
    func liftForeignBans(of id: PublicID) throws {
        let state = state.withLock { $0 }
        let revoked = Set(state.people.values.filter { $0.trust.state == .revoked }.flatMap(\.devices))
        for device in devices(belongingTo: id, in: state) where revoked.contains(device) {
            try node.liftBan(of: device)
            keys.setRefused(false, device)
        }
    }
}

extension CircleDriver.State {
    /// The person to whom a device belongs: this device's person, else a trusted one, else one whose trust was revoked, else
    /// another one; of several the person for whom the device signed last, and at equal times the one with the lower id.
    func owner(of device: PeerId) -> PublicID? {
        if let ownCard, ownCard.devices.contains(device) { return ownCard.publicID }
        let claims = people.compactMap { id, person in
            person.card?.entry(of: device).map { (id: id, rank: person.trust.state.rank, seconds: $0.signedSeconds) }
        }
        return claims.max { one, other in
            if one.rank != other.rank { return one.rank < other.rank }
            if one.seconds != other.seconds { return one.seconds < other.seconds }
            return other.id < one.id
        }?.id
    }

    /// The owner of a device if that is this device's person, or a trusted one.
    func trustedOwner(of device: PeerId) -> PublicID? {
        guard let owner = owner(of: device) else { return nil }
        return owner == ownCard?.publicID || people[owner]?.trust.state == .trusted ? owner : nil
    }

    fileprivate func card(of id: PublicID) -> ProfileCard? { id == ownCard?.publicID ? ownCard : people[id]?.card }
}

extension Trust.State {
    /// The place of a person among those whose cards name one device.
    fileprivate var rank: Int {
        switch self {
        case .trusted: 4
        case .revoked: 3
        case .invited: 2
        case .requested: 1
        case .none: 0
        }
    }
}
