internal import HTTPAPI
internal import Logging
internal import RunarNode

// The queries of requests that read, as members of their addresses.

package struct PeerQuery: Codable, Sendable {
    let peer: String?

    package init(_ peer: PeerName?) {
        self.peer = peer?.text
    }
}

package struct AddressQuery: Codable, Sendable {
    let address: String?

    package init(address: String?) {
        self.address = address
    }
}

/// Which lines of the log are wanted.
struct LogQuery: Codable, Sendable {
    let since: UInt64?
    /// This level and worse ones.
    let level: Logger.Level?
    let subsystem: LogSubsystem?
    /// A part of the message.
    let search: String?
    let limit: Int?

    /// - Throws: ``RouteFailure``.
    func checked() throws -> LogRing.Query {
        LogRing.Query(
            since: since ?? 0,
            level: level ?? .trace,
            subsystem: subsystem?.rawValue,
            search: search,
            limit: try RouteRequest.number(limit, "limit", in: 1...LogRing.limit) ?? LogRing.limit
        )
    }
}

/// The last line that a reader of the activity has seen.
struct ActivityQuery: Codable, Sendable {
    let boot: String?
    let since: UInt64?
    let follow: Bool?
}

package struct PeersQuery: Codable, Sendable {
    /// Whether those that are not connected are wanted, too.
    let all: Bool?
    /// Whether the hash tables are asked for members first.
    let find: Bool?
    let network: String?

    package init(all: Bool) {
        self.all = all
        find = all
        network = nil
    }
}

struct MessagesQuery: Codable, Sendable {
    let peer: String?
    let since: Int?
}

struct FileQuery: Codable, Sendable {
    /// The name of the file at the peer.
    let name: String
}

struct RecordsQuery: Codable, Sendable {
    let whose: RecordsView.Whose?
}

package struct ServicesQuery: Codable, Sendable {
    let peer: String?
    let network: String?

    package init(_ peer: PeerName?, network: NetworkName?) {
        self.peer = peer?.text
        self.network = network?.text
    }
}

/// The newest thoughts of a conversation before a place, or those that contain a text.
package struct ThoughtsQuery: Codable, Sendable {
    let before: UInt64?
    let limit: Int?
    let search: String?

    package init(before: UInt64? = nil, limit: Int?, search: String? = nil) {
        self.before = before
        self.limit = limit
        self.search = search
    }

    /// - Throws: ``RouteFailure``.
    func checked() throws -> Self {
        _ = try RouteRequest.number(limit, "limit", in: 1...1_000)
        return self
    }
}

/// The pixels of an image.
struct ImageQuery: Codable, Sendable {
    let width: Int
    let height: Int
}

/// Which part of a long list is wanted.
package struct PageQuery: Codable, Sendable {
    let offset: Int?
    let limit: Int?
    /// A part of an id, a label or a key.
    let search: String?

    /// The whole list.
    package static let whole = PageQuery(offset: nil, limit: nil, search: nil)

    /// - Throws: ``RouteFailure``.
    func page() throws -> Page {
        Page(
            offset: try RouteRequest.number(offset, "offset", in: 0...10_000_000) ?? 0,
            limit: try RouteRequest.number(limit, "limit", in: 1...1_000_000),
            search: search.flatMap(Search.init)
        )
    }
}
