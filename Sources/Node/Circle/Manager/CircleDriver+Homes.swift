internal import CircleModel
internal import Concurrency
internal import Identity
internal import RunarNode

// Homes: the members that hold this person's mail instead of the nearest ones.
extension CircleDriver {
    /// Chooses homes, in a newer card for trusted people and the other own devices.
    func setHomes(_ homes: [PeerId]) async throws {
        guard homes.count <= ProfileCard.homeLimit else {
            throw CircleError.tooLong("the list of homes", limit: ProfileCard.homeLimit, found: homes.count)
        }
        for (place, home) in homes.enumerated() where homes[..<place].contains(home) {
            throw CircleError.repeatedHome(home)
        }
        let known = Set(try node.knownPeers().map(\.peerId))
        let banned = try node.bannedPeers()
        try await changeHomes { card in
            for home in homes where home != localPeerId {
                guard known.contains(home) || card.homes.contains(home) else { throw CircleError.unknownHome(home) }
                guard !banned.contains(home) else {
                    throw CircleError.notAllowed(
                        "connections with \(home.short) are refused here, and mail from it too: choose another member"
                    )
                }
            }
            return homes
        }
    }

    /// Removes the devices of a revoked person from the homes: they are banned, so mail that they hold never arrives.
    func removeHomes(_ devices: [PeerId]) async throws {
        let homes = state.withLock { $0.ownCard?.homes ?? [] }
        guard homes.contains(where: { devices.contains($0) }) else { return }
        try await changeHomes { card in card.homes.filter { !devices.contains($0) } }
    }

    private func changeHomes(_ change: (ProfileCard) throws -> [PeerId]) async throws {
        let told = try await mutex.withLock { () -> [PeerId] in
            guard let card = state.withLock({ $0.ownCard }) else { throw CircleError.noProfile }
            let homes = try change(card)
            guard homes != card.homes else { return [] }
            let newer = try makeCard(card.profile, card.entries, homes: homes)
            let told = try owe(newer)
            try keep(newer)
            return told
        }
        for device in told { await sendOwed(to: device) }
    }

    /// The homes on a card that can hold mail for a device: known members of the network, without the device and this one.
    ///
    /// A device never holds its own mail, and a sender stores what it sends in any case. If no home is left, the nearest
    /// members hold the mail.
    func homes(on card: ProfileCard, for device: PeerId, in network: NetworkId) throws -> [PeerId] {
        guard !card.homes.isEmpty else { return [] }
        // Without this device.
        let members = Set(try node.knownPeers().filter { $0.networks.contains(network) }.map(\.peerId))
        let banned = try node.bannedPeers()
        return card.homes.filter { $0 != device && members.contains($0) && !banned.contains($0) }
    }
}
