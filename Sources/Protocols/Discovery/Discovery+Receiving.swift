internal import Identity
internal import OrderedCollections

// Datagrams from the link: any content from any sender. The checks are ordered by their cost.
extension Discovery {
    /// An opened announcement with its carrier and source.
    struct Heard {
        let announcement: Announcement
        let carrier: Announcement.Carrier
        let network: NetworkId
        let source: SocketAddress
    }

    /// The time for which an unchanged announcement is accepted without verifying its signature again.
    private static let believedFor = Duration.seconds(2)

    mutating func receive(_ datagram: [UInt8], from source: SocketAddress, _ turn: inout Turn) {
        guard isRunning else { return }
        do {
            guard let heard = try self.open(datagram, from: source, turn.now) else { return }
            try evaluate(heard, &turn)
        } catch {
            if let report = reports.ignored(error, from: source, at: turn.now.monotonic) { turn.emit(report) }
        }
    }

    /// Finds the network that a datagram is of; nil if it is this node's own.
    private mutating func open(
        _ datagram: [UInt8],
        from source: SocketAddress,
        _ now: NodeTime
    ) throws(Reason) -> Heard? {
        guard datagram.count == BeaconKey.byteCount || datagram.count == RendezvousProbe.byteCount else {
            throw .notForUs
        }
        guard budget.hasRoom(for: .trial, from: source, at: now.monotonic) else { throw .tooMany }
        var trials = 0
        defer { budget.charge(.trial, count: trials, to: source, at: now.monotonic) }
        for (network, state) in networks {
            for keys in state.keys(at: now.wallSeconds) {
                trials += 1
                guard let (bytes, carrier) = try self.open(datagram, with: keys, of: network, from: source, now) else {
                    continue
                }
                do {
                    let announcement = try Announcement(bytes, of: network)
                    guard announcement.instance != configuration.instance else { return nil }
                    return Heard(announcement: announcement, carrier: carrier, network: network, source: source)
                } catch .unknownVersion(let version) {
                    throw .unknownVersion(version)
                } catch {
                    throw .malformed
                }
            }
        }
        throw .notForUs
    }

    /// Tries one member secret on a datagram.
    private mutating func open(
        _ datagram: [UInt8],
        with keys: SecretKeys,
        of network: NetworkId,
        from source: SocketAddress,
        _ now: NodeTime
    ) throws(Reason) -> (bytes: [UInt8], carrier: Announcement.Carrier)? {
        guard datagram.count == RendezvousProbe.byteCount else {
            return keys.beacon.open(datagram).map { ($0, .beacon) }
        }
        guard RendezvousProbe.isAddressed(datagram, to: keys.rendezvous.publicKey) else { return nil }
        guard budget.hasRoom(for: .rendezvousProbe, from: source, at: now.monotonic) else { throw .tooMany }
        budget.charge(.rendezvousProbe, to: source, at: now.monotonic)
        guard let bytes = RendezvousProbe.open(datagram, of: network, with: keys.rendezvous) else { throw .malformed }
        return (bytes, .rendezvousProbe)
    }

    /// Decides whether an announcement is new and genuine.
    private mutating func evaluate(_ heard: Heard, _ turn: inout Turn) throws(Reason) {
        let announcement = heard.announcement
        let times = [announcement.wallSeconds, turn.now.wallSeconds].sorted()
        guard times[1] - times[0] <= configuration.limits.clockToleranceSeconds else { throw .clocksDiffer }
        // Nothing here may hold on to the network's state, or changing it would copy it.
        let isRevoked = networks[heard.network]?.revoked.contains(announcement.peerId) ?? true
        guard !isRevoked else { throw .revoked }
        let peer = networks[heard.network]?.peers[announcement.peerId]
        if let boot = peer?.boot(announcement.instance) {
            guard announcement.counter > boot.counter else {
                try takeCopy(heard, of: boot, &turn)
                return
            }
            if isBelieved(announcement, after: boot, of: peer, turn.now) { return }
        }
        let peerCount = networks[heard.network]?.peers.count ?? 0
        guard peer != nil || peerCount < configuration.limits.peersPerNetwork else { throw .tooMany }
        try prove(heard, knownToken: peer?.token, turn.now)
        note(heard, &turn)
    }

    /// Whether nothing in an announcement is new but its time, and the last one is not long ago.
    private func isBelieved(
        _ announcement: Announcement,
        after boot: HeardBoot,
        of peer: HeardPeer?,
        _ now: NodeTime
    ) -> Bool {
        boot.isLive && !announcement.isGoodbye && announcement.addresses == boot.named
            && announcement.token == peer?.token && now.monotonic - boot.lastHeard < Self.believedFor
    }

    /// Verifies the token, unless it was before, and the signature.
    private mutating func prove(_ heard: Heard, knownToken: AccessToken?, _ now: NodeTime) throws(Reason) {
        let announcement = heard.announcement
        let verifier = configuration.verifier
        guard !announcement.token.isExpired(at: now.wallSeconds) else { throw .badToken }
        guard budget.hasRoom(for: .proof, from: heard.source, at: now.monotonic) else { throw .tooMany }
        budget.charge(.proof, to: heard.source, at: now.monotonic)
        guard announcement.token == knownToken || verifier.token(announcement.token) else { throw .badToken }
        let message = announcement.signedBytes(for: heard.carrier)
        guard verifier.signature(announcement.publicKey, message, announcement.signature.bytes) else {
            throw .badSignature
        }
        budget.vouch(for: heard.source, at: now.monotonic)
    }

    /// Adds the addresses to which a copy of the last announcement from another source resolves.
    private mutating func takeCopy(_ heard: Heard, of boot: HeardBoot, _ turn: inout Turn) throws(Reason) {
        let peerId = heard.announcement.peerId
        guard boot.isCopy(heard.announcement, from: heard.source) else {
            // Each of our links brings the same datagram once.
            if heard.announcement.counter == boot.counter { return }
            throw .replayed
        }
        var boot = boot
        let isNew = boot.addCopy(meaning(of: boot.named, from: heard.source), from: heard.source)
        networks[heard.network]?.peers[peerId]?.set(boot)
        if isNew, boot.isLive, peerId != self.peerId, let peer = networks[heard.network]?.peers[peerId] {
            turn.emit(.peerHeard(peerId, heard.network, peer.addresses))
        }
    }

    /// Returns the addresses to which the named ones resolve in a datagram from `source`.
    func meaning(of named: [SocketAddress], from source: SocketAddress) -> [SocketAddress] {
        let sender = source.unmapped
        let isThisMachine =
            sender.isLoopback || addresses.contains { $0.ip == sender.ip.withoutScope && !$0.isUnspecified }
        var meant: [SocketAddress] = []
        for address in named {
            var address = address
            if address.isUnspecified {
                guard sender.isIPv6 == address.isIPv6, sender.ip.isUnicast else { continue }
                address.ip = sender.ip
            } else if address.isIPv6, address.isLinkLocal {
                guard sender.scope != 0 else { continue }
                guard let scoped = IPAddress(bytes: address.bytes, scope: sender.scope) else { continue }
                address.ip = scoped
            } else if address.isLoopback {
                guard isThisMachine else { continue }
            }
            if !meant.contains(address) { meant.append(address) }
        }
        return meant
    }
}
