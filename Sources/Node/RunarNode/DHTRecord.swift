public import Essentials
public import Identity
public import Kademlia

/// The reason why a request to the hash table failed.
public typealias DHTError = KademliaError

/// A value that one member has written under a key.
public struct DHTRecord: Hashable, Sendable {
    /// The key, 1 to 1 024 bytes.
    public let key: Data
    /// The value, at most 65 536 bytes.
    public let value: Data
    /// The member that wrote and signed it.
    public let writer: PeerId
    /// Its number among the versions of this writer: later ones are higher.
    public let version: UInt64
    /// The time at which it expires unless it is written again.
    public let expiration: Date

    init(_ record: Record) {
        key = Data(record.key)
        value = Data(record.value)
        writer = record.writer
        version = record.version
        expiration = UnixTime.date(record.expirySeconds)
    }
}

/// The result of a write.
public struct DHTReceipt: Hashable, Sendable {
    /// Other members that hold the record now; 0 while this device is alone, and it hands the record on later.
    public let replicas: Int
    /// The version that the record got.
    public let version: UInt64
    /// The time at which it expires unless it is written again.
    public let expiration: Date
}

/// The condition for a write to succeed; a majority of the replicas decides.
public enum DHTCondition: Hashable, Sendable {
    /// Nothing.
    case any
    /// No member has a record under the key.
    case ifAbsent
    /// The newest record under the key has this version.
    case ifVersion(UInt64)
}

/// The time limit and the effort of a request.
public struct DHTPolicy: Hashable, Sendable {
    /// The time limit, counted from the call.
    public var deadline: Duration
    /// Whole tries within the deadline.
    public var attempts: Int
    /// Whether a read takes the first verified record, which is the fastest and perhaps not the newest.
    public var takesFirst: Bool

    /// Creates a policy: ten seconds, two tries, and the newest record on which several replicas agree.
    public init(deadline: Duration = .seconds(10), attempts: Int = 2, takesFirst: Bool = false) {
        self.deadline = deadline
        self.attempts = attempts
        self.takesFirst = takesFirst
    }
}

/// The state of a network's hash table, as far as this node knows.
public struct DHTStatus: Hashable, Sendable {
    /// Members in the routing table that are not suspected to have left.
    public let contacts: Int
    /// Connected members, in the routing table or not.
    public let connected: Int
    /// The values that this node holds, also for other members, without the records by which services are found.
    public let records: Int
    /// The bytes of everything held, the records of services included.
    public let recordBytes: Int
    /// The values that this node wrote.
    public let ownRecords: Int
}
