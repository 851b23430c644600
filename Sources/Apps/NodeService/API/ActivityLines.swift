internal import Bytes
internal import Foundation
internal import Identity
internal import Kademlia
internal import Node
internal import RunarNode

/// What a line of the activity says beside its number and time.
protocol ActivityContent: Encodable, Sendable {
    /// A stable word.
    static var kind: String { get }
}

/// A line of the activity.
struct ActivityLine<Content: ActivityContent>: Encodable {
    let number: UInt64
    let milliseconds: UInt64
    let content: Content

    private enum CodingKeys: String, CodingKey {
        case kind
        case number = "seq"
        case milliseconds = "at"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Content.kind, forKey: .kind)
        try container.encode(number, forKey: .number)
        try container.encode(milliseconds, forKey: .milliseconds)
        try content.encode(to: encoder)
    }
}

/// The first line.
struct ActivityHello: Encodable {
    var kind = "hello"
    let boot: String
    let seq: UInt64
    /// Whether the reader has to load everything anew.
    let missed: Bool
}

/// That there is nothing new.
struct ActivityAlive: Encodable {
    var kind = "alive"
    let seq: UInt64
}

/// Something that happened to the node.
struct ActivityEvent: ActivityContent {
    static let kind = "event"

    let report: EventReport

    private enum CodingKeys: String, CodingKey {
        case text
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.line, forKey: .text)
        try report.encode(to: encoder)
    }
}

/// A message that came, or whose state changed.
struct ActivityMessage: ActivityContent {
    static let kind = "message"
    let message: MessageDesk.Message
}

/// A peer wants to send a file.
struct ActivityFileOffered: ActivityContent {
    static let kind = "fileOffered"
    let offer: FileShelf.Offer
}

/// An offer was answered, or is too old.
struct ActivityOfferEnded: ActivityContent {
    static let kind = "offerEnded"
    let number: Int
}

/// How far a file is that a peer sends.
struct ActivityFileProgress: ActivityContent {
    static let kind = "fileProgress"
    let peerId: String
    let name: String
    let count: UInt64
    let total: UInt64
}

/// A file is whole.
struct ActivityFileArrived: ActivityContent {
    static let kind = "fileArrived"
    let file: FileShelf.File
    /// What it was called on its way; where that name was taken, the file has another.
    let offeredName: String
}

/// Something was changed by somebody: load it anew.
struct ActivityChanged: ActivityContent {
    static let kind = "changed"

    /// What pages load.
    enum Subject: String, Codable, Sendable {
        case networks
        case peers
        case messages
        case files
        case records
        case keys
        case services
        case settings
        case logLevel
    }

    let what: [Subject]
}

/// One second of the node.
struct ActivitySample: ActivityContent {
    static let kind = "sample"

    let sentBytes: Int
    let receivedBytes: Int
    let sentMessages: Int
    let receivedMessages: Int
    let connectedPeers: Int
    /// In microseconds, by peer.
    let roundTrips: [String: Int]
    /// How long requests and messages took.
    let requestMilliseconds: [Double]
}

/// A request of this device to a hash table that began or ended.
struct ActivityTableOperation: ActivityContent {
    static let kind = "dht"

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
    /// Holders, records or peers.
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
        key = bytes.flatMap { String(validating: $0, as: UTF8.self) }
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
        case .stored(_, let holders): ("stored", false, holders)
        case .found(let records): (records.isEmpty ? "nothing" : "found", false, records.count)
        case .peers(let contacts): ("peers", false, contacts.count)
        case .failed(let error): (CommandFailure(error).message, true, 0)
        case nil: ("cancelled", true, 0)
        }
    }
}
