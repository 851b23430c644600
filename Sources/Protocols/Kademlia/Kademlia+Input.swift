package import Identity

extension Kademlia {
    /// What can happen to one network's table.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection; others may dial it at the addresses (perhaps none).
        case memberUp(PeerId, [SocketAddress])
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// Whether what is sent to an admitted peer stays unanswered; at first it does not.
        case memberSuspected(PeerId, Bool)
        /// The network's owner revoked the peer; its place in the table and its records go.
        case memberRevoked(PeerId)
        /// There is evidence that the contact is a member (a beacon, an earlier admission, a text given by the user).
        case contactHeard(Contact)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, [UInt8])
        /// The peer could not be dialled or refused this node: what was under way to it failed.
        case unreachable(PeerId)
        /// This node's own token, at the start and whenever it was renewed.
        case tokenChanged(AccessToken)
        /// The application asks.
        case requested(RequestId, Request, RequestPolicy)
        /// The application no longer waits; nothing is said about the request any more.
        case cancelled(RequestId)
        /// Records that were persisted in an earlier run; they were verified before.
        case recordsLoaded([Record])
        /// The time of the last `wake` effect came.
        case timeReached
        /// The node stops: hand over what only this node holds.
        case stopping
    }

    /// An action for the node that runs the table, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer; dial it at these addresses first if there is none.
        ///
        /// The node answers with `memberUp` or `unreachable` when it had to dial. Without addresses, and without a
        /// connection, the message is dropped: nobody waits for it any more.
        case send(PeerId, [SocketAddress], [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case offence(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// The request ended.
        case finished(RequestId, Outcome, Effort)
        /// Keep the record over restarts; it replaces an older one of the same ``RecordId``.
        case persist(Record)
        /// The record need no longer be kept.
        case forget(RecordId)
    }
}
