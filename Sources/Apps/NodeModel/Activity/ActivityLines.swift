internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
internal import Kademlia
internal import Node
internal import RunarNode

/// The rest of a line of the activity.
package protocol ActivityContent: Codable, Sendable {
    /// A stable word.
    static var kind: String { get }
}

/// The common fields of every line about an occurrence.
package struct ActivityStamp: Codable, Sendable {
    let kind: String
    /// The number of the line.
    let seq: UInt64
    /// Milliseconds since 1970.
    let at: UInt64
}

/// The first line.
package struct ActivityHello: Codable {
    var kind = "hello"
    let boot: String
    let seq: UInt64
    /// Whether the reader must reload everything.
    let missed: Bool
}

/// The sign that the node is alive, with the number of the last line.
package struct ActivityAlive: Codable {
    var kind = "alive"
    let seq: UInt64
}

/// Something that happened to the node.
package struct ActivityEvent: ActivityContent {
    package static let kind = "event"

    /// An event in words for people.
    private struct Words: Codable, Sendable {
        let text: String
    }

    private let joined: Joined<Words, EventReport>

    init(_ report: EventReport) { joined = Joined(Words(text: report.line), report) }

    package init(from decoder: any Decoder) throws { joined = try Joined(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try joined.encode(to: encoder) }
}

/// A new message, or a new state of one.
package struct ActivityMessage: ActivityContent {
    package static let kind = "message"
    let message: MessageHistory.Message
}

/// A peer wants to send a file.
package struct ActivityFileOffered: ActivityContent {
    package static let kind = "fileOffered"
    let offer: FileStore.Offer
}

/// An offer was answered, or is too old.
package struct ActivityOfferEnded: ActivityContent {
    package static let kind = "offerEnded"
    let number: Int
}

/// The progress of a file that a peer sends.
package struct ActivityFileProgress: ActivityContent {
    package static let kind = "fileProgress"
    let peerId: String
    let name: String
    let count: UInt64
    let total: UInt64
}

/// A file is whole.
package struct ActivityFileArrived: ActivityContent {
    package static let kind = "fileArrived"
    let file: FileStore.File
    /// The name that the sender gave; if that name was taken, the file has another.
    let offeredName: String
}

/// An accepted file could not be stored.
package struct ActivityFileFailed: ActivityContent {
    package static let kind = "fileFailed"
    let peerId: String
    let label: String?
    let name: String
    let total: UInt64
    /// The code that the sender receives.
    let code: String
    let reason: String
}

/// A change of data that pages show and must reload.
package struct ActivityChanged: ActivityContent {
    package static let kind = "changed"

    /// The data that a page loads.
    package enum Subject: String, Codable, CaseIterable, Sendable {
        case networks
        case peers
        case messages
        case files
        case records
        case keys
        case circle
        case services
        case settings
        case logLevel
    }

    let what: [Subject]

    package init(what: [Subject]) {
        self.what = what
    }
}

/// One second of the node.
package struct ActivitySample: ActivityContent {
    package static let kind = "sample"

    let sentBytes: Int
    let receivedBytes: Int
    let sentMessages: Int
    let receivedMessages: Int
    let connectedPeers: Int
    /// In microseconds, by peer.
    let roundTrips: [String: Int]
    /// The durations of requests and messages.
    let requestMilliseconds: [Double]
}

/// A request of this device to a hash table that began or ended.
package struct ActivityTableOperation: ActivityContent {
    package static let kind = "dht"

    let number: UInt64
    let networkId: String
    let operation: String
    let phase: String
    /// If it is a text.
    var key: String?
    var keyHex: String?
    var peerId: String?
    var outcome: String?
    var failed: Bool?
    /// Replicas, records or peers.
    var count: Int?
    var milliseconds: Int?

    init(_ operation: TableOperation) {
        number = operation.number
        networkId = operation.networkId.base64Encoded
        var bytes: [UInt8]?
        switch operation.request {
        case .put(let key, _, _, _): (self.operation, bytes) = ("put", key)
        case .delete(let key): (self.operation, bytes) = ("delete", key)
        case .get(let key): (self.operation, bytes) = ("get", key)
        case .all(let key): (self.operation, bytes) = ("getAll", key)
        case .one(let key, let writer):
            (self.operation, bytes) = ("getOne", key)
            peerId = writer.base64Encoded
        case .nearest: self.operation = "nearest"
        case .bootstrap: self.operation = "bootstrap"
        }
        key = bytes.flatMap { String(utf8: $0) }
        keyHex = bytes.map { Hex.encode($0) }
        guard case .ended(let end, let took) = operation.phase else {
            phase = "begun"
            return
        }
        phase = "ended"
        milliseconds = took.milliseconds
        (outcome, failed, count) = Self.words(of: end)
    }

    private static func words(of end: Kademlia.Outcome?) -> (String, Bool, Int) {
        switch end {
        case .stored(_, let replicas): ("stored", false, replicas)
        case .found(let records): (records.isEmpty ? "nothing" : "found", false, records.count)
        case .peers(let contacts): ("peers", false, contacts.count)
        case .failed(let error): (CommandFailure(error).message, true, 0)
        case nil: ("cancelled", true, 0)
        }
    }
}
