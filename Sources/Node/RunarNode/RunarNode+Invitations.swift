internal import Concurrency
public import Identity
public import Node
internal import NodeCore
internal import Platform
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// One scan instead of two texts: the owner shows an invitation, the joiner gets its token over the connection.
extension RunarNode {
    /// Makes an invitation that is good once, for ten minutes, or until ``withdraw(_:)``.
    ///
    /// When a joiner took it, ``NodeEvent/joinRequested(_:)`` asks for consent; compare the digits on both screens and
    /// give it with ``answer(_:allow:expiration:label:)``. If `isPreallowed` the first joiner needs no further consent, and
    /// gets a token until `expiration` (nil for ever); `label` is what the device is called here.
    ///
    /// The joiner dials `addresses`; nil stands for those of this machine at which the node listens.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``.
    public func invite(
        to networkId: NetworkId,
        addresses: [SocketAddress]? = nil,
        isPreallowed: Bool = false,
        expiration: Date? = nil,
        label: String? = nil
    ) throws -> Invitation {
        _ = try self.networkKey(of: networkId)
        let driver = try self.running()
        let invitation = Invitation(
            inviter: self.peerId,
            networkId: networkId,
            addresses: addresses ?? self.dialableAddresses,
            nowSeconds: self.wallSeconds
        )
        if isPreallowed {
            let now = self.wallSeconds
            let preallowance = Preallowance(
                expiration: expiration,
                label: label,
                until: invitation.expirationSeconds + Invitation.memorySeconds
            )
            self.settings.preallowances.withLock { all in
                all = all.filter { $0.value.until >= now }
                all[invitation.id] = preallowance
            }
        }
        driver.apply(.join(.invitationOpened(invitation, isPreallowed: isPreallowed)))
        return invitation
    }

    /// Gives whoever was allowed beforehand what its invitation says.
    func allow(_ request: JoinRequest) throws {
        let preallowance = self.settings.preallowances.withLock { $0.removeValue(forKey: request.invitation) }
        try self.answer(
            request,
            allow: true,
            expiration: preallowance?.expiration,
            label: preallowance?.label
        )
    }

    /// Takes an invitation back; who came with it and waits for consent is refused.
    public func withdraw(_ invitation: Invitation.ID) {
        self.applyIfRunning(.join(.invitationWithdrawn(invitation)))
    }

    /// Gives or refuses a joiner a token until `expiration` (nil for ever); `label` is what the device is called here.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``; then the joiner is refused.
    public func answer(
        _ request: JoinRequest,
        allow: Bool,
        expiration: Date? = nil,
        label: String? = nil
    ) throws {
        let driver = try self.running()
        let id = ConnectionId(request.connection)
        do {
            guard allow else { return driver.apply(.join(.decided(id, nil))) }
            guard let metadata = try self.store.network(request.network)?.networkMetadata() else {
                throw NodeError.notTheOwner(request.network)
            }
            let token = try self.issueToken(
                for: request.peer,
                in: request.network,
                expiration: expiration,
                label: label
            )
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
        let driver = try self.running()
        let start = self.clock.now().monotonic
        let (pending, queue) = AsyncStream.makeStream(of: String.self)
        // The driver tells it under its lock; what is called here may ask the node something.
        let grant = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await digits in pending { onPending(digits) } }
            defer { queue.finish() }
            return try await driver.join(by: invitation) { queue.yield($0) }
        }
        try self.store.persist(.joinGranted(grant), at: self.wallSeconds)
        // Its name means the network from here on.
        self.networksChanged()
        do {
            try await driver.reach(invitation.inviter, in: invitation.networkId)
            return NewMembership(metadata: grant.metadata, isConnected: true)
        } catch {
            // A member it is already; the node goes on trying. An inviter that goes away at once was connected, too.
            let wasConnected = driver.wasAdmitted(invitation.inviter, in: invitation.networkId, since: start)
            return NewMembership(metadata: grant.metadata, isConnected: wasConnected)
        }
    }

    /// Where others can dial this node, as far as the machine knows.
    var dialableAddresses: [SocketAddress] {
        OwnAddresses.dialable(bound: self.listenAddresses, interfaces: NetworkInterface.all() ?? [])
    }
}

/// What an invitation gives without a question.
struct Preallowance: Sendable {
    let expiration: Date?
    let label: String?
    /// When nobody can come with the invitation any more, in seconds since 1970.
    let until: UInt64
}

/// What came of a join.
public struct NewMembership: Hashable, Sendable {
    /// What the network says about itself.
    public let metadata: NetworkMetadata
    /// Whether the inviter and this device were connected as members of it.
    public let isConnected: Bool
}
