package import Identity

/// A message between two members' tables: an RPC under a number, or its response.
///
/// The layout is in `docs/spec/dht.md`. A message travels in a frame that names the network, on a connection on which
/// both are admitted, so it names neither network nor sender.
package struct Message: Hashable, Sendable {
    /// The requester's number of the RPC, repeated in the response.
    package var number: UInt32
    package var body: Body

    package init(number: UInt32, body: Body) {
        self.number = number
        self.body = body
    }

    package enum Body: Hashable, Sendable {
        case rpc(RPC)
        case answer(Answer)
    }

    package enum RPC: Hashable, Sendable {
        /// Requests the peers nearest to the target.
        case findPeers(target: Bytes32)
        /// Find the records at the location, and the members nearest to it.
        case findRecords(location: Bytes32, Selection, inlineLimit: Int)
        /// Store this record.
        case store(Record)
        /// Which of these records do you lack?
        case offer([Digest])
        /// Does the condition hold, and will you let no other conditional write pass for some seconds?
        case reserve(location: Bytes32, Condition)
        /// Let others pass again.
        case release(location: Bytes32)
    }

    package enum Answer: Hashable, Sendable {
        /// The nearest live members that the answerer knows.
        case peers([Contact])
        /// The records, and as ``peers(_:)``.
        case records([Found], [Contact])
        /// Whether the record is stored.
        case stored(StoreVerdict)
        /// Which of the offered records the responder requests, in their order.
        case wanted([Bool])
        /// Whether the location is reserved for the requester (after a release it is not).
        case reserved(Bool)
    }

    /// Which records at a location are requested.
    package enum Selection: Hashable, Sendable {
        /// The newest live one.
        case newest
        /// All writers' live ones, the newest first.
        case all
        /// One writer's, a tombstone too.
        case one(PeerId)
    }

    /// The precondition of a reservation.
    package enum Condition: Hashable, Sendable {
        case absent
        case version(UInt64)
    }

    /// A record in a response: the value only if it was short enough for the requester.
    package struct Found: Hashable, Sendable {
        package var head: Record.Head
        package var value: [UInt8]?

        package init(head: Record.Head, value: [UInt8]?) {
            self.head = head
            self.value = value
        }
    }

    /// A record in an offer.
    package struct Digest: Hashable, Sendable {
        package var id: RecordId
        package var version: UInt64

        package init(id: RecordId, version: UInt64) {
            self.id = id
            self.version = version
        }
    }

    /// The result of a request to store a record.
    package enum StoreVerdict: UInt8, Hashable, Sendable, CaseIterable {
        /// It is stored now, or was already.
        case accepted = 0
        /// The replica has a newer one of the same writer.
        case outdated = 1
        /// The replica knows too many members that are nearer to the location.
        case notNear = 2
        /// The writer, or the network, has used up its room.
        case overQuota = 3
        /// The times in it do not fit the replica's clock.
        case clockDiffers = 4
        /// It does not verify.
        case refused = 5
    }
}

extension Message {
    /// The largest message; a driver need not read longer ones.
    package static let byteLimit = 256 * 1024
    /// The most contacts in an answer.
    package static let contactLimit = 32
    /// The most records in an answer, and in an offer.
    package static let recordLimit = 256
    /// The bytes that heads and values in one answer may take, so that it stays below ``byteLimit``.
    package static let recordBytesLimit = 192 * 1024
}

/// Why bytes are no message.
package enum MessageError: Error, Hashable, Sendable {
    /// The kind is none of this version.
    case unknownKind(UInt8)
    /// The body does not match the kind.
    case malformed(String)
}

extension MessageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownKind(let kind): "a message of the unknown kind \(kind)"
        case .malformed(let what): "a malformed message: \(what)"
        }
    }
}
