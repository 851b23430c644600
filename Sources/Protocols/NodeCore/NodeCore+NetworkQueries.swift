package import Identity
package import Kademlia
package import PubSub
package import Services

// The state of the protocols with a value for each network.
extension NodeCore {
    /// Every member that the table of a network knows alive.
    package func contacts(in network: NetworkId) -> [Contact] {
        protocols.tables[network]?.contacts ?? []
    }

    /// The version under which this node holds a record of a network, for figures about replication.
    package func storedVersion(of id: RecordId, in network: NetworkId) -> UInt64? {
        protocols.tables[network]?.storedVersion(of: id)
    }

    /// The heads of all records that this node holds for a network.
    package func storedHeads(in network: NetworkId) -> [Record.Head] {
        protocols.tables[network]?.storedHeads ?? []
    }

    /// The members in the table of a network, the nearest first.
    package func tableRows(of network: NetworkId) -> [Kademlia.Row] { protocols.tables[network]?.rows ?? [] }

    /// The health of a network's table; nil if this node is not a member.
    package func tableHealth(of network: NetworkId) -> Kademlia.Health? {
        protocols.tables[network]?.health
    }

    /// The batches in the replay window of a network, each publisher's in order.
    package func eventWindow(of network: NetworkId) -> [EventBatch] {
        protocols.events[network]?.window ?? []
    }

    /// Whether no member is connected that exchanges events.
    package func isIsolated(in network: NetworkId) -> Bool {
        protocols.events[network]?.isIsolated ?? true
    }

    /// Whether this node is a member of the network at present.
    package func isMember(of network: NetworkId) -> Bool { memberships.isMember(of: network) }

    /// The offers of a connected member.
    package func offers(of peer: PeerId, in network: NetworkId) -> [ServiceOffer] {
        protocols.services[network]?.offers(of: peer) ?? []
    }

    /// The offers of all connected members that have any.
    package func offers(in network: NetworkId) -> [(peer: PeerId, offers: [ServiceOffer])] {
        protocols.services[network]?.offersByPeer ?? []
    }
}
