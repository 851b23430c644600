package import Logging
internal import Node
package import RunarNode

// The queries of requests that read, as members of their addresses.

package struct PeerQuery: Codable, Sendable {
    package let peer: String?

    package init(_ peer: PeerName?) {
        self.peer = peer?.text
    }
}

package struct AddressQuery: Codable, Sendable {
    package let address: String?

    package init(address: String?) {
        self.address = address
    }
}

/// Which lines of the log are wanted.
package struct LogQuery: Codable, Sendable {
    package let since: UInt64?
    /// This level and worse ones.
    package let level: Logger.Level?
    package let subsystem: LogSubsystem?
    /// A part of the message.
    package let search: String?
    package let limit: Int?
}

extension LogRing.Query {
    /// Creates the query of a request; `limit` is the number of lines, within ``LogRing/limit``.
    package init(_ query: LogQuery, limit: Int) {
        self.init(
            since: query.since ?? 0,
            level: query.level ?? .trace,
            subsystem: query.subsystem?.rawValue,
            search: query.search,
            limit: limit
        )
    }
}

/// The last line that a reader of the activity has seen.
package struct ActivityQuery: Codable, Sendable {
    package let boot: String?
    package let since: UInt64?
    package let follow: Bool?
}

package struct PeersQuery: Codable, Sendable {
    /// Whether those that are not connected are wanted, too.
    package let all: Bool?
    /// Whether the hash tables are asked for members first.
    package let find: Bool?
    package let network: String?

    package init(all: Bool) {
        self.all = all
        find = all
        network = nil
    }
}

package struct MessagesQuery: Codable, Sendable {
    package let peer: String?
    package let since: Int?
}

package struct FileQuery: Codable, Sendable {
    /// The name of the file at the peer.
    package let name: String
}

package struct RecordsQuery: Codable, Sendable {
    package let whose: RecordsView.Whose?
}

package struct ServicesQuery: Codable, Sendable {
    package let peer: String?
    package let network: String?

    package init(_ peer: PeerName?, network: NetworkName?) {
        self.peer = peer?.text
        self.network = network?.text
    }
}

/// The newest thoughts of a conversation before a place, or those that contain a text.
package struct ThoughtsQuery: Codable, Sendable {
    package let before: UInt64?
    package let limit: Int?
    package let search: String?

    package init(before: UInt64? = nil, limit: Int?, search: String? = nil) {
        self.before = before
        self.limit = limit
        self.search = search
    }
}

/// The pixels of an image.
package struct ImageQuery: Codable, Sendable {
    package let width: Int
    package let height: Int
}

/// Which part of a long list is wanted.
package struct PageQuery: Codable, Sendable {
    package let offset: Int?
    package let limit: Int?
    /// A part of an id, a label or a key.
    package let search: String?

    /// The whole list.
    package static let whole = PageQuery(offset: nil, limit: nil, search: nil)
}
