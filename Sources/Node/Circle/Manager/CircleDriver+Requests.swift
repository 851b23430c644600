internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Node
internal import RunarNode

// Requests for trust that other people send, and the devices of which this person wants none.
extension CircleDriver {
    /// The requests of people that wait for this person's answer; further ones are refused.
    private static let requestLimit = 64
    /// The requests that one device may have waiting, so that one device leaves room for others.
    private static let deviceRequestLimit = 4
    /// The most ignored devices; beyond it the first one is forgotten.
    private static let ignoredLimit = 1_024

    static let (taken, refused) = (Data([1]), Data([0]))

    /// The service that receives requests of other people.
    func makeService() -> RunarService {
        let service = RunarService(
            name: "Circle",
            path: Self.servicePath,
            version: "1",
            description: "Requests for trust, and their answers"
        )
        for (action, input) in [("request", Trust.Input.requestReceived), ("accept", .acceptReceived)] {
            service.registerRawAction(action) { [weak self] request in
                guard let self, let peer = request.peer else { return Self.refused }
                return try await received(input, [UInt8](request.payload), from: peer) ? Self.taken : Self.refused
            }
        }
        service.registerRawAction("decline") { [weak self] request in
            guard let self, let peer = request.peer else { return Self.refused }
            if let person = owner(of: peer), person != ownId { try await handle(.declineReceived, of: person) }
            state.withLock { _ = $0.invitedDevices.remove(peer) }
            return Self.taken
        }
        addDeviceActions(to: service)
        return service
    }

    /// Takes a card with a request or a consent; returns whether it was taken.
    private func received(_ input: Trust.Input, _ bytes: [UInt8], from peer: PeerId) async throws -> Bool {
        let card = try? ProfileCard(bytes)  // nil: it is no card, and is refused
        guard let card, card.publicID != ownId else { return false }
        let id = card.publicID
        let removed = try await mutex.withLock { () -> [PeerId]? in
            guard mayReceive(input, card, from: peer) else { return nil }
            let (earlier, wasInvited) = state.withLock { ($0.people[id], $0.invitedDevices.contains(peer)) }
            var person = earlier ?? KnownPerson(key: card.key, trust: Trust(wasInvited ? .invited : .none))
            if let before = person.card, before.replaces(card) { return [] }
            let removed = devices(of: id, missingIn: card)
            for device in removed { try store.forgetDevice(device) }
            // The device that this person invited has proved its person.
            if wasInvited, [.none, .requested].contains(person.trust.state) { person.trust = Trust(.invited) }
            person.card = card
            try save(id, person)
            state.withLock { _ = $0.invitedDevices.remove(peer) }
            return removed
        }
        guard let removed else { return false }
        for device in removed { await forget(device) }
        let person = try known(id)
        if person.trust.state == .trusted { events.send(.profileChanged(self.person(id, person))) }
        try await handle(input, of: id)
        return true
    }

    /// Whether a device may ask or consent in the name of a person.
    ///
    /// The newest card of the person that is known names the device, and the device belongs to no other trusted person.
    private func mayReceive(_ input: Trust.Input, _ card: ProfileCard, from peer: PeerId) -> Bool {
        let id = card.publicID
        let (earlier, wasInvited, isBlocked, isIgnored, requests) = state.withLock { state in
            (
                state.people[id], state.invitedDevices.contains(peer), state.blocked.contains(id),
                state.ignoredDevices.contains(peer),
                state.people.values.filter { $0.trust.state == .requested }
            )
        }
        guard earlier?.trust.state != .revoked, !isBlocked, !isIgnored else { return false }
        let newest = earlier?.card.map { $0.replaces(card) ? $0 : card } ?? card
        guard newest.devices.contains(peer), [nil, id].contains(trustedPerson(of: peer)), mayTake(newest) else {
            return false
        }
        guard earlier?.trust.state ?? Trust.State.none == Trust.State.none, !wasInvited else { return true }
        // It becomes a request that waits.
        return input == .requestReceived && requests.count < Self.requestLimit
            && requests.count { $0.devices.contains(peer) } < Self.deviceRequestLimit
    }

    // MARK: Ignored devices

    /// Declines the request of a person, and takes no further request of the person's devices if wanted.
    func decline(_ id: PublicID, ignoringDevices: Bool) async throws {
        if ignoringDevices {
            try await mutex.withLock {
                let person = try known(id)
                guard [.requested, .none].contains(person.trust.state) else {
                    throw CircleError.notAllowed("the person asks for nothing: revoke the trust, or block the person")
                }
                let devices = unownedDevices(of: person)
                try setIgnored { ignored in
                    ignored.removeAll { devices.contains($0) }
                    ignored = (ignored + devices).suffix(Self.ignoredLimit)
                }
            }
        }
        try await handle(.decline, of: id)
    }

    /// Takes requests of devices again, because this person invites their person.
    func stopIgnoring(_ devices: [PeerId]) throws {
        guard state.withLock({ $0.ignoredDevices.contains { devices.contains($0) } }) else { return }
        try setIgnored { $0.removeAll { devices.contains($0) } }
    }

    private func setIgnored(_ change: (inout [PeerId]) -> Void) throws {
        var devices = state.withLock { $0.ignoredDevices }
        change(&devices)
        try store.setIgnoredDevices(devices)
        state.withLock { [devices] in $0.ignoredDevices = devices }
    }
}
