internal import Identity
internal import OrderedCollections

/// The networks that this node is a member of, and the checks of tokens in them.
struct Memberships: Sendable {
    /// In the order of joining.
    private var byNetwork: OrderedDictionary<NetworkId, Membership> = [:]
    /// The checks of peers' tokens.
    private var checked = Tallies()
    private let localPeerId: PeerId
    private let clockToleranceSeconds: UInt64
    private let verifySignature: @Sendable (AccessToken) -> Bool

    init(_ configuration: NodeCore.Configuration) {
        localPeerId = configuration.peerId
        clockToleranceSeconds = configuration.limits.clockToleranceSeconds
        verifySignature = configuration.verifier.token
    }

    subscript(network: NetworkId) -> Membership? {
        get { byNetwork[network] }
        _modify { yield &byNetwork[network] }
    }

    /// In the order of joining.
    var networks: [NetworkId] { Array(byNetwork.keys) }

    /// The counts at this moment.
    var tallies: Tallies {
        var tallies = checked
        tallies.networks = byNetwork.count
        return tallies
    }

    /// Adds this node's token of a network, or replaces the earlier one, and merges `revocations` with those known.
    ///
    /// Returns whether the network is new, and the peers that were not known to be revoked there.
    mutating func add(
        _ token: AccessToken,
        obtainedSeconds: UInt64,
        _ revocations: RevocationSet
    ) -> (isNew: Bool, revoked: [PeerId]) {
        let network = token.networkId
        let known = byNetwork[network]?.revocations.set
        var merged = known ?? RevocationSet(networkId: network)
        do {
            try merged.formUnion(revocations)
        } catch {
            // More entries than a set may hold: those that are known already stay.
        }
        if known == nil {
            byNetwork[network] = Membership(token: token, obtainedSeconds: obtainedSeconds, revocations: merged)
        } else {
            byNetwork[network]?.replaceToken(with: token, obtainedSeconds: obtainedSeconds)
            byNetwork[network]?.replaceRevocations(with: merged)
        }
        return (known == nil, merged.revocations.map(\.peerId).filter { known?.contains($0) != true })
    }

    mutating func remove(_ network: NetworkId) { byNetwork.removeValue(forKey: network) }

    /// Whether this node is a member at present.
    func isMember(of network: NetworkId) -> Bool { byNetwork[network]?.own.isExpired == false }

    /// Whether this node is a member at present and the peer was not revoked there.
    func mayShare(_ network: NetworkId, with peer: PeerId) -> Bool {
        guard let membership = byNetwork[network] else { return false }
        return !membership.own.isExpired && !membership.revocations.set.contains(peer)
    }

    /// The peers admitted in `network`, or in any, ascending.
    func admittedPeers(in network: NetworkId?) -> [PeerId] {
        if let network { return byNetwork[network]?.admitted.elements ?? [] }
        if byNetwork.count == 1 { return byNetwork.values[0].admitted.elements }
        var found = Ascending<PeerId>()
        for membership in byNetwork.values {
            for peer in membership.admitted.elements { found.insert(peer) }
        }
        return found.elements
    }

    // MARK: Tokens

    /// Returns this node's token of a network while it may be shown; its signature was verified on arrival.
    func ownToken(in network: NetworkId, _ now: NodeTime) -> AccessToken? {
        guard let membership = byNetwork[network] else { return nil }
        let token = membership.own.token
        return token.isExpired(at: expiryTime(in: membership, now)) ? nil : token
    }

    /// Returns the reason why `token` cannot be this node's in its network, or nil.
    func problem(withOwn token: AccessToken, _ now: NodeTime) -> TokenProblem? {
        let membership = byNetwork[token.networkId]
        return token.problem(
            at: membership.map { expiryTime(in: $0, now) } ?? now.wallSeconds,
            for: localPeerId,
            in: token.networkId,
            revoked: { membership?.revocations.set.contains($0) ?? false },
            verifySignature: verifySignature
        )
    }

    /// Checks the token that a peer showed, and counts the check; returns nil if the token is good.
    mutating func check(_ token: AccessToken, of peer: PeerId, _ now: NodeTime) -> TokenProblem? {
        let problem = self.problem(with: token, of: peer, now)
        checked.tokenChecks += 1
        if problem != nil { checked.tokenCheckFailures += 1 }
        return problem
    }

    /// The order of section "Checks" of docs/spec/admission.md: known network, expiry, revocation, binding, signature.
    private func problem(with token: AccessToken, of peer: PeerId, _ now: NodeTime) -> TokenProblem? {
        guard let membership = byNetwork[token.networkId] else { return .unknownNetwork }
        return token.problem(
            at: expiryTime(in: membership, now),
            for: peer,
            in: token.networkId,
            revoked: { membership.revocations.set.contains($0) },
            verifySignature: verifySignature
        )
    }

    /// Whether both tokens of a peering are valid now; all but the time was verified on arrival.
    func isGood(_ peering: Peering, in network: NetworkId, _ now: NodeTime) -> Bool {
        guard let membership = byNetwork[network], let token = peering.token else { return false }
        let seconds = expiryTime(in: membership, now)
        return !membership.own.token.isExpired(at: seconds) && !token.isExpired(at: seconds)
            && !membership.revocations.set.contains(token.peerId)
    }

    // MARK: The wall clock

    /// Returns the time that decides about expiry in a network.
    func expiryTime(in membership: Membership, _ now: NodeTime) -> UInt64 {
        membership.clock.expirySeconds(at: now.wallSeconds, tolerance: clockToleranceSeconds)
    }

    /// Reports a clock that is behind, once.
    mutating func checkClock(of network: NetworkId, _ turn: inout Turn) {
        let tolerance = clockToleranceSeconds
        guard let lag = byNetwork[network]?.clock.takeLag(at: turn.now.wallSeconds, tolerance: tolerance)
        else { return }
        turn.emit(.membership(.clockBehind(network, seconds: lag)))
    }
}
