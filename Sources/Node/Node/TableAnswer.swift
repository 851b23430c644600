package import Identity
package import Kademlia
package import NodeCore

/// The outcome of a request to a hash table, and its cost.
package struct TableAnswer: Sendable {
    package let outcome: Kademlia.Outcome
    package let effort: Kademlia.Effort
}

/// A request to a hash table that began or ended, for observers.
package struct TableOperation: Sendable {
    package enum Phase: Sendable {
        case begun
        /// The end; without an outcome the request was cancelled, or the node stopped.
        case ended(Kademlia.Outcome?, after: Duration)
    }

    /// The number of the request, which its beginning and its end share.
    package let number: UInt64
    package let networkId: NetworkId
    package let request: Kademlia.Request
    package let phase: Phase
}

/// A request of a member for a new token before its own expires.
package struct RenewalRequest: Hashable, Sendable {
    package let peer: PeerId
    package let network: NetworkId
    /// The present token, which is valid.
    package let token: AccessToken
    package let connection: ConnectionId
}
