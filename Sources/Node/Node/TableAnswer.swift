package import Identity
package import Kademlia
package import NodeCore

/// How a request to a hash table ended, and what it cost.
package struct TableAnswer: Sendable {
    package let outcome: Kademlia.Outcome
    package let effort: Kademlia.Effort
}

/// A request to a hash table that began or ended, for whoever watches.
package struct TableOperation: Sendable {
    package enum Phase: Sendable {
        case begun
        /// Without an outcome it was cancelled, or the node stopped.
        case ended(Kademlia.Outcome?, after: Duration)
    }

    /// The same at its beginning and end.
    package let number: UInt64
    package let networkId: NetworkId
    package let request: Kademlia.Request
    package let phase: Phase
}

/// A member that wants a new token before its own ends.
package struct RenewalRequest: Hashable, Sendable {
    package let peer: PeerId
    package let network: NetworkId
    /// The one that it has, which is good.
    package let token: AccessToken
    package let connection: ConnectionId
}
