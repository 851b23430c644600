package import Identity

extension Kademlia {
    /// The number that the driver gave to a request of the application; unique while the request is under way.
    package struct RequestId: Hashable, Comparable, Sendable {
        package let number: UInt64

        package init(_ number: UInt64) {
            self.number = number
        }

        package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// What the application asks for.
    package enum Request: Hashable, Sendable {
        /// Writes this node's record under the key, to expire after so many seconds.
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

    /// What must hold for a put to succeed; decided by a majority of the holders.
    package enum Condition: Hashable, Sendable {
        /// Nothing.
        case any
        /// No writer has a record under the key.
        case ifAbsent
        /// The newest record under the key has this version.
        case ifVersion(UInt64)
    }

    /// How long and how hard to try.
    package struct RequestPolicy: Hashable, Sendable {
        /// When to give up, counted from the request.
        package var deadline: Duration
        /// Whole tries within the deadline, each with a fresh lookup.
        package var attempts: Int
        /// When a read has read enough.
        package var reading: Reading
        /// Holders that must have acknowledged a record, or all there are if those are fewer.
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

    /// When a read has read enough.
    package enum Reading: Hashable, Sendable {
        /// At the first verified record: the fastest, perhaps not the newest.
        case first
        /// When so many of the holders gave the same newest record and none of them disagreed; else all are heard.
        case agreeing(Int)
        /// When all of the nearest nodes answered or failed: right even where most of them lie by saying old things.
        case everyone
    }

    /// How a request ended.
    package enum Outcome: Hashable, Sendable {
        /// The record as it was written, and how many other nodes store it (0 when there is no other).
        case stored(Record, holders: Int)
        /// The records asked for, the newest first; none means that there certainly is none.
        case found([Record])
        /// The members asked for, the nearest first; all of them answered.
        case peers([Contact])
        /// Nothing came of it.
        case failed(KademliaError)
    }

    /// What a request cost, for figures and for people who ask why it took so long.
    package struct Effort: Hashable, Sendable {
        /// Steps from this node to the farthest answer that counted.
        package var hops = 0
        /// Questions that were sent.
        package var questions = 0
        /// Questions that were answered.
        package var answers = 0
        /// From the request to the first verified record or, in a put, to the first acknowledgement.
        package var firstResult: Duration?

        package init() {}
    }
}
