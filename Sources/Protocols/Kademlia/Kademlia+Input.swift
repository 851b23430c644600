package import Identity

extension Kademlia {
    /// An event that one network's table reacts to.
    package enum Input: Sendable {
        /// The peer is admitted in this network on a connection; others may dial it at the addresses (perhaps none).
        case memberUp(PeerId, [SocketAddress])
        /// The last admission of the peer in this network ended, or its connection did.
        case memberDown(PeerId)
        /// Whether messages to an admitted peer remain unanswered; initially false.
        case memberSuspected(PeerId, Bool)
        /// The network's owner revoked the peer; its table entry and its records are removed.
        case memberRevoked(PeerId)
        /// There is evidence that the contact is a member (a beacon, an earlier admission, a text given by the user).
        case contactHeard(Contact)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, [UInt8])
        /// The peer could not be dialled or refused this node: the pending queries to it failed.
        case unreachable(PeerId)
        /// This node's own token, at the start and whenever it was renewed.
        case tokenChanged(AccessToken)
        /// A request of the application.
        case requested(RequestId, Request, RequestPolicy)
        /// The application cancelled the request; no further effect of it follows.
        case cancelled(RequestId)
        /// The record of a `persist` effect is durable, or was not stored.
        case persisted(RecordId, version: UInt64, Bool)
        /// Records that were persisted in an earlier run; they were verified before.
        case recordsLoaded([Record])
        /// The time of the last `wake` effect was reached.
        case timeReached
        /// The node stops: republish the records that only this node stores.
        case stopping
    }

    /// An action for the node that runs the table, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer; dial it at these addresses first if there is none.
        ///
        /// The node answers with `memberUp` or `unreachable` when it had to dial. Without addresses, and without a
        /// connection, the message is dropped: its sender no longer waits for it.
        case send(PeerId, [SocketAddress], [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)
        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case violation(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// The request ended.
        case finished(RequestId, Outcome, Effort)
        /// Store the record on disk; it replaces an older one of the same ``RecordId``. Answered by `persisted`.
        case persist(Record)
        /// The record need no longer be stored.
        case forget(RecordId)
    }
}

// MARK: - Requests

extension Kademlia {
    /// The number that the driver gave to a request of the application; unique while the request is under way.
    package struct RequestId: Hashable, Comparable, Sendable {
        package let number: UInt64

        package init(_ number: UInt64) {
            self.number = number
        }

        package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// A request of the application.
    package enum Request: Hashable, Sendable {
        /// Writes this node's record under the key, to expire after a number of seconds.
        case put(key: [UInt8], value: [UInt8], condition: Condition = .any, lifetimeSeconds: UInt64)
        /// Replaces this node's own record under the key with a tombstone.
        case delete(key: [UInt8])
        /// The newest record under the key, by (version, PeerId).
        case get(key: [UInt8])
        /// The records of all writers under the key, the newest first.
        case all(key: [UInt8])
        /// The record of one writer under the key.
        case one(key: [UInt8], writer: PeerId)
        /// The members nearest to a location, which may be a PeerId's.
        case nearest(to: Bytes32)
        /// Fills the table: looks this node itself up, then refreshes the buckets.
        case bootstrap
    }

    /// The condition of a put, which a majority of the replicas decides.
    package enum Condition: Hashable, Sendable {
        /// Nothing.
        case any
        /// No writer has a record under the key.
        case ifAbsent
        /// The newest record under the key has this version.
        case ifVersion(UInt64)
    }

    /// The time and the effort that a request may cost.
    package struct RequestPolicy: Hashable, Sendable {
        /// The time from the request until it fails.
        package var deadline: Duration
        /// Whole tries within the deadline, each with a fresh lookup.
        package var attempts: Int
        /// The responses after which a read is complete.
        package var reading: Reading
        /// Replicas that must have acknowledged a record, or all there are if those are fewer.
        package var acknowledgements: Int

        package init(
            deadline: Duration = .seconds(10),
            attempts: Int = 2,
            reading: Reading = .agreeing(5),
            acknowledgements: Int = 15
        ) {
            self.deadline = deadline
            self.attempts = attempts
            self.reading = reading
            self.acknowledgements = acknowledgements
        }
    }

    /// The responses after which a read is complete.
    package enum Reading: Hashable, Sendable {
        /// The first verified record: the fastest, perhaps not the newest.
        case first
        /// A number of replicas with the same newest record and none that differs; otherwise all responses.
        case agreeing(Int)
        /// All of the nearest nodes, responding or failed: right even where most of them lie with outdated records.
        case everyone
    }

    /// The outcome of a request.
    package enum Outcome: Hashable, Sendable {
        /// The written record, and the number of other nodes that store it (0 if there is no other).
        case stored(Record, replicas: Int)
        /// The requested records, the newest first; none means that there certainly is none.
        case found([Record])
        /// The requested members, the nearest first; all of them answered.
        case peers([Contact])
        /// The request failed.
        case failed(KademliaError)
    }

    /// The effort of a request, for statistics and to explain its duration to users.
    package struct Effort: Hashable, Sendable {
        /// Steps from this node to the farthest answer that counted.
        package var hops = 0
        /// Queries that were sent.
        package var queries = 0
        /// Queries that were answered.
        package var answers = 0
        /// From the request to the first verified record or, in a put, to the first acknowledgement.
        package var firstResult: Duration?

        package init() {}
    }
}
