internal import Identity
internal import Kademlia

/// The requests that the node itself makes to hash tables, for its other protocols.
struct OwnTableRequests: Sendable {
    /// The protocol's reason for a request.
    enum Purpose: Hashable, Sendable {
        /// The record of a service is written or deleted.
        case service(String)
        /// The members near to this node's mailbox are searched for.
        case mailHolders
    }

    /// The numbers of the node's own requests begin here; the driver gives none of them.
    private static let firstNumber: UInt64 = 1 << 63

    private var requests: [Kademlia.RequestId: (network: NetworkId, purpose: Purpose)] = [:]
    /// The number of the last request.
    private var lastNumber: UInt64 = 0

    /// Returns the number of a request that begins.
    mutating func begin(_ purpose: Purpose, in network: NetworkId) -> Kademlia.RequestId {
        lastNumber += 1
        let id = Kademlia.RequestId(Self.firstNumber + lastNumber)
        requests[id] = (network, purpose)
        return id
    }

    /// Takes out a request that ended; nil if it is not the node's own.
    mutating func end(_ id: Kademlia.RequestId) -> (network: NetworkId, purpose: Purpose)? {
        requests.removeValue(forKey: id)
    }

    /// Forgets the requests in a network that this node left.
    mutating func forget(_ network: NetworkId) {
        requests = requests.filter { $0.value.network != network }
    }
}
