public import Identity
public import Node
internal import NodeCore
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// One scan instead of two texts: the owner shows an invitation, the joiner gets its token over the connection.
extension RunarNode {
    /// Makes an invitation that is good once, for ten minutes.
    ///
    /// When a joiner took it, ``NodeEvent/joinRequested(_:)`` asks for consent; compare the digits on both screens and
    /// give it with ``answer(_:allow:expiration:)``. If `isPreallowed` the first joiner needs no further consent.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``.
    public func invite(
        to networkId: NetworkId,
        addresses: [SocketAddress],
        isPreallowed: Bool = false
    ) throws -> Invitation {
        _ = try self.networkKey(of: networkId)
        let driver = try self.running()
        let invitation = Invitation(
            inviter: self.peerId,
            networkId: networkId,
            addresses: addresses,
            nowSeconds: self.wallSeconds
        )
        driver.apply(.invitationOpened(invitation, isPreallowed: isPreallowed))
        return invitation
    }

    /// Gives or refuses a joiner a token until `expiration` (nil for ever).
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/notRunning``; then the joiner is refused.
    public func answer(_ request: JoinRequest, allow: Bool, expiration: Date? = nil) throws {
        let driver = try self.running()
        let id = ConnectionId(request.connection)
        do {
            guard allow else { return driver.apply(.joinDecided(id, nil)) }
            guard let metadata = try self.store.network(request.network)?.networkMetadata() else {
                throw NodeError.notTheOwner(request.network)
            }
            let token = try self.issueToken(for: request.peer, in: request.network, expiration: expiration)
            driver.apply(.joinDecided(id, JoinGrant(token: token, metadata: metadata)))
        } catch {
            driver.apply(.joinDecided(id, nil))
            throw error
        }
    }

    /// Dials the inviter and asks for membership; ``NodeEvent`` tells what comes of it.
    ///
    /// - Throws: ``NodeError/notRunning``.
    public func join(by invitation: Invitation) throws {
        try self.running().apply(.joinWanted(invitation))
    }
}
