internal import Concurrency
public import Essentials
public import Identity
package import Kademlia
internal import Logging
public import Node
internal import NodeCore
internal import NodeStore
internal import Platform
internal import Services
internal import Transport
package import Traversal

// One scan instead of two texts: the owner shows an invitation, the joiner gets its token over the connection.
extension RunarNode {
    /// Makes an invitation that is good once, for ten minutes, or until ``withdraw(_:)``.
    ///
    /// Once a joiner took it, ``NodeEvent/joinRequested(_:)`` asks for consent; compare the digits on both screens and give
    /// it with ``answer(_:allow:expiration:label:)``. If `isPreallowed` the first joiner needs no further consent, and gets
    /// a token until `expiration` (nil without end); `label` is the device's label here.
    ///
    /// The joiner dials `addresses`; nil for those of this machine at which the node listens.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``.
    public func invite(
        to networkId: NetworkId,
        addresses: [SocketAddress]? = nil,
        isPreallowed: Bool = false,
        expiration: Date? = nil,
        label: String? = nil
    ) throws -> Invitation {
        _ = try networkKey(of: networkId)
        let driver = try running()
        let invitation = Invitation(
            inviter: peerId,
            networkId: networkId,
            addresses: addresses ?? dialableAddresses,
            nowSeconds: wallSeconds
        )
        if isPreallowed {
            let now = wallSeconds
            let preallowance = Preallowance(
                expiration: expiration,
                label: label,
                until: invitation.expirationSeconds + Invitation.memorySeconds
            )
            settings.preallowances.withLock { all in
                all = all.filter { $0.value.until >= now }
                all[invitation.id] = preallowance
            }
        }
        driver.apply(.join(.invitationOpened(invitation, isPreallowed: isPreallowed)))
        return invitation
    }

    /// Gives a joiner the terms of an invitation that needs no consent.
    func allow(_ request: JoinRequest) throws {
        let preallowance = settings.preallowances.withLock { $0.removeValue(forKey: request.invitation) }
        try answer(
            request,
            allow: true,
            expiration: preallowance?.expiration,
            label: preallowance?.label
        )
    }

    /// Withdraws an invitation; a joiner that waits for consent is refused.
    public func withdraw(_ invitation: Invitation.ID) {
        applyIfRunning(.join(.invitationWithdrawn(invitation)))
    }

    /// Gives a joiner a token until `expiration` (nil without end), or refuses it; `label` is the device's label here.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``; then the joiner is refused.
    public func answer(
        _ request: JoinRequest,
        allow: Bool,
        expiration: Date? = nil,
        label: String? = nil
    ) throws {
        let driver = try running()
        let id = ConnectionId(request.connection)
        do {
            guard allow else { return driver.apply(.join(.decided(id, nil))) }
            guard let metadata = try store.network(request.network)?.networkMetadata() else {
                throw NodeError.notTheOwner(request.network)
            }
            let token = try issueToken(for: request.peer, in: request.network, expiration: expiration, label: label)
            driver.apply(.join(.decided(id, JoinGrant(token: token, metadata: metadata))))
        } catch {
            driver.apply(.join(.decided(id, nil)))
            throw error
        }
    }

    /// Becomes a member by an invitation and connects to the inviter.
    ///
    /// Once the inviter was reached `onPending` gets the six digits, to be shown while its person decides.
    ///
    /// - Throws: ``JoinFailure`` with the reason, ``NodeError/notRunning``; `CancellationError` when cancelled.
    @discardableResult
    public func join(
        by invitation: Invitation,
        onPending: @escaping @Sendable (_ digits: String) -> Void = { _ in }
    ) async throws -> NewMembership {
        let driver = try running()
        let start = clock.now().monotonic
        let (pending, queue) = AsyncStream.makeStream(of: String.self)
        // The driver calls this under its lock, but `onPending` may call the node, so it runs outside.
        let grant = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await digits in pending { onPending(digits) } }
            defer { queue.finish() }
            return try await driver.join(by: invitation) { queue.yield($0) }
        }
        do {
            try await driver.reach(invitation.inviter, in: invitation.networkId)
            return NewMembership(metadata: grant.metadata, isConnected: true)
        } catch {
            // The membership exists, and the node keeps dialling. An inviter that disconnected at once counts as connected,
            // too.
            let wasConnected = driver.wasAdmitted(invitation.inviter, in: invitation.networkId, since: start)
            return NewMembership(metadata: grant.metadata, isConnected: wasConnected)
        }
    }

    /// The addresses at which others can dial this node, as far as the interfaces reveal them.
    var dialableAddresses: [SocketAddress] {
        OwnAddresses.dialable(bound: listenAddresses, interfaces: NetworkInterface.all() ?? [])
    }
}

extension RunarNode {
    /// The peers that were given a token here, were met before, are connected, or were named by the latest search of a
    /// hash table (``dhtFindPeers(networkId:near:policy:)``), ascending.
    ///
    /// A revoked device is left out, so that a name or the beginning of an id never resolves to a lost device instead of its
    /// successor.
    ///
    /// - Throws: ``StorageError``.
    public func knownPeers() throws -> [KnownPeer] {
        var found: [PeerId: (networks: [NetworkId], label: String?)] = [:]
        let named = tables.found
        for network in try store.networks().map(\.networkId).sorted() {
            let issued = try store.issuedTokens(of: network)
            let remembered = try store.peers(of: network).map(\.peerId)
            let revoked = try store.revocationSet(of: network)
            let here = Set(issued.map(\.peerId) + remembered + connectedPeers(in: network)).union(named[network] ?? [])
            for peer in here where peer != peerId && !revoked.contains(peer) {
                found[peer, default: ([], nil)].networks.append(network)
            }
            for token in issued where token.label != nil { found[token.peerId]?.label = token.label }
        }
        let records = Dictionary(uniqueKeysWithValues: try store.peers().map { ($0.peerId, $0) })
        let (connected, now) = (Set(connectedPeers()), wallSeconds)
        return found.sorted { $0.key < $1.key }.map { peer, known in
            let record = records[peer]
            return KnownPeer(
                peerId: peer,
                networks: known.networks,
                label: known.label,
                lastSeen: (connected.contains(peer) ? now : record?.lastSeen).map(UnixTime.date),
                isGiven: record?.isGiven ?? false,
                isInHashTable: known.networks.contains { named[$0]?.contains(peer) == true }
            )
        }
    }
}

extension RunarNode {
    /// The description of this node.
    ///
    /// - Throws: ``RunarError``.
    public func getNodeInfo() async throws -> RunarNodeInfo {
        RunarNodeInfo(
            nodeId: config.nodeId,
            peerId: peerId,
            defaultNetworkId: config.defaultNetworkId,
            networkIds: services.memberships,
            isRunning: isRunning,
            addresses: listenAddresses,
            services: services.located.map { $0.hosted.info(in: $0.network) }
        )
    }

    /// The devices that this one knows in its networks, connected or not, ascending.
    ///
    /// - Throws: ``RunarError``.
    public func getKnownPeers() async throws -> [RunarPeerInfo] {
        do {
            let connected = Set(connectedPeers())
            return try knownPeers().map { peer in
                RunarPeerInfo(
                    peerId: peer.peerId,
                    label: peer.label,
                    networkIds: peer.networks,
                    isConnected: connected.contains(peer.peerId),
                    addresses: try store.addresses(of: peer.peerId).map(\.address),
                    lastSeen: peer.lastSeen
                )
            }
        } catch {
            throw RunarError(error)
        }
    }
}

// The state for a diagnosis.
extension RunarNode {
    /// The membership of this device in each of its networks.
    ///
    /// - Throws: ``StorageError``.
    package func membershipStates() throws -> [MembershipState] {
        try Self.membershipStates(in: store, peerId)
    }

    /// Returns the memberships of a node that does not run, without its keys.
    ///
    /// - Throws: ``StorageError``.
    package static func membershipStates(statePath: String, peerId: PeerId?) throws -> [MembershipState] {
        try Self.membershipStates(in: NodeStore(path: statePath), peerId)
    }

    private static func membershipStates(in store: NodeStore, _ peerId: PeerId?) throws -> [MembershipState] {
        try store.networks().map { record in
            let revocations = try store.revocationSet(of: record.networkId)
            return MembershipState(
                networkId: record.networkId,
                name: try record.networkMetadata()?.name,
                isOwner: record.role == .owner,
                token: try record.accessToken(),
                isRevoked: peerId.map { revocations.contains($0) } ?? false,
                latestSignedSeconds: revocations.revocations.map(\.seconds).max()
            )
        }
    }

    /// The latest attempts to reach a peer, the newest last; none while the node is stopped.
    package func pathHistory(of peer: PeerId) -> [PathHistory.Entry] {
        (try? running().pathHistory(of: peer)) ?? []  // see above
    }

    /// The device keys that two running nodes use, as far as this node noticed lately; none while the node is stopped.
    package var keysUsedTwice: [KeyUsedTwice] { (try? running().keysUsedTwice) ?? [] }  // see above

    /// The mapping of this device's NAT, whether that is more than a guess, and where peers see this device; nil
    /// while the node is stopped.
    package var natObservations: (mapping: MappingBehaviour, isProven: Bool, addresses: [SocketAddress])? {
        try? running().natObservations  // see above
    }

    /// The filtering of this device's NAT, measured with a second member; nil while the node is stopped.
    package func filtering() async -> FilteringBehaviour? {
        guard let driver = try? running() else { return nil }  // see above
        return await driver.discoverFiltering()
    }

    /// The addresses at which this device would dial a peer.
    ///
    /// - Throws: ``StorageError``.
    package func knownAddresses(of peer: PeerId) throws -> [SocketAddress] {
        try store.addresses(of: peer).map(\.address)
    }
}

// The peers for display.
extension RunarNode {
    /// All devices in a network but this one: those with a token issued here, those met or connected before, and revoked
    /// ones, ascending.
    ///
    /// - Throws: ``StorageError``.
    package func members(of network: NetworkId) throws -> [NetworkMember] {
        var members: [PeerId: NetworkMember] = [:]
        for peer in connectedPeers(in: network) { members[peer] = NetworkMember(peerId: peer) }
        for record in try store.peers(of: network) {
            let isConnected = members[record.peerId] != nil
            members[record.peerId, default: NetworkMember(peerId: record.peerId)].lastSeen =
                isConnected ? wallSeconds : record.lastSeen
        }
        for token in try store.issuedTokens(of: network) {
            var member = members[token.peerId] ?? NetworkMember(peerId: token.peerId)
            member.label = token.label
            member.issued = NetworkMember.Issued(expiration: token.expiration, isRenewable: token.isRenewable)
            members[token.peerId] = member
        }
        for revocation in try store.revocationSet(of: network).revocations {
            members[revocation.peerId, default: NetworkMember(peerId: revocation.peerId)].revokedAt = revocation.seconds
        }
        members[peerId] = nil
        return members.values.sorted { $0.peerId < $1.peerId }
    }

    /// Requests to hash tables from now on, as they begin and end.
    package var tableOperations: AsyncStream<TableOperation> { broadcasts.operations.listen() }

    /// The members in the hash table of a network, the nearest first; none while the node is stopped.
    package func tableRows(networkId: NetworkId) -> [Kademlia.Row] {
        (try? running().tableRows(of: networkId)) ?? []  // see above
    }

    /// The heads of the values that this node holds for a network, tombstones included; none while it is stopped.
    ///
    /// The records by which services are found are the node's own and left out.
    package func storedHeads(networkId: NetworkId) -> [Record.Head] {
        let heads = (try? running().storedHeads(in: networkId)) ?? []  // see above
        return heads.filter { !Services.isRecordKey($0.key) }
    }
}

extension RunarNode {
    /// Finds members on the local network.
    public var discoveryService: DiscoveryService { DiscoveryService(node: self) }

    /// The members of a network that announce themselves on the local network or answer in its hash table, each once,
    /// ascending.
    ///
    /// At most 20 are found in the hash table: those nearest to this device by their ids.
    public func discoverPeers(for networkId: NetworkId) async -> [DiscoveredPeer] {
        var found: [PeerId: DiscoveredPeer] = [:]
        let local = discoveryService.getDiscoveredPeers(for: networkId)
        let remote = try? await dhtFindPeers(networkId: networkId)  // none while no other member is connected
        for peer in local + (remote ?? []) {
            guard let known = found[peer.peerId] else {
                found[peer.peerId] = peer
                continue
            }
            found[peer.peerId] = DiscoveredPeer(
                peerId: peer.peerId,
                networkId: networkId,
                addresses: known.addresses + peer.addresses.filter { !known.addresses.contains($0) },
                sources: known.sources.union(peer.sources)
            )
        }
        return found.values.sorted { $0.peerId < $1.peerId }
    }

    func setDiscovering() throws {
        settings.isDiscovering.withLock { $0 = true }
        guard let driver = try? running(), !driver.isDiscovering else { return }  // a later start does it
        try openLocalNetwork(for: driver)
    }

    func unsetDiscovering() async {
        settings.isDiscovering.withLock { $0 = false }
        guard let driver = try? running() else { return }  // silent already
        await driver.stopDiscovery()
        watchAddresses(of: driver)
    }

    /// Starts discovery on a driver; without a local network the node runs without it.
    func startDiscovery(of driver: NodeDriver) {
        do {
            try openLocalNetwork(for: driver)
        } catch {
            logs[.discovery].warning("members on the local network are not found: \(error)")
        }
    }

    private func openLocalNetwork(for driver: NodeDriver) throws {
        do {
            if let link = try factories.makeLink(driver.endpoint, config) { driver.startDiscovery(on: link) }
        } catch {
            throw NodeError.noLocalNetwork("\(error)")
        }
    }
}

extension RunarNode {
    /// Finds out where this node is seen from outside, and opens ways to it.
    public var natTraversal: NATTraversal { NATTraversal(node: self) }
}
