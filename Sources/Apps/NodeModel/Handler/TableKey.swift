internal import Bytes
package import CommandModel

/// A key in a network's hash table as a person writes it, and how long to ask for it.
package struct TableKey: Hashable, Sendable {
    /// The text encoding of a key.
    package enum Format: String, Codable, CaseIterable, Sendable {
        case text
        case hex
        case base64
    }

    let text: String
    let format: Format
    /// Nil for the only one.
    package let network: NetworkName?
    /// Nil for the node's own setting.
    package let timeout: Duration?

    package init(text: String, format: Format, network: NetworkName?, timeout: Duration?) {
        self.text = text
        self.format = format
        self.network = network
        self.timeout = timeout
    }

    /// The key itself.
    ///
    /// - Throws: ``CommandFailure`` when the text is not in the format.
    package func bytes() throws(CommandFailure) -> [UInt8] {
        do {
            switch format {
            case .text: return Array(text.utf8)
            case .hex: return try Hex.decode(text)
            case .base64: return try Base64.decode(text)
            }
        } catch {
            throw CommandFailure("bad-key", .usage, "the key \"\(text)\" is not in \(format.rawValue): \(error)")
        }
    }
}

/// The condition under which a value is stored.
package enum PutCondition: Hashable, Sendable {
    case any
    case ifAbsent
    case ifVersion(UInt64)
}

/// Which of the values under a key are read, and from where.
package struct GetOptions: Hashable, Sendable {
    /// Only that member's.
    var writer: PeerName?
    /// Whether the values of all members are read instead of the newest.
    var isAll = false
    /// Whether one that this device read or wrote lately will do.
    var isCached = true

    package init(writer: PeerName? = nil, isAll: Bool = false, isCached: Bool = true) {
        self.writer = writer
        self.isAll = isAll
        self.isCached = isCached
    }
}
