internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
internal import RunarNode

/// A value that was stored.
package struct PutReport: Report, Hashable {
    let networkId: String
    let key: String
    /// Later ones are higher; for `--if-version`.
    package let version: UInt64
    /// Other members that hold it now.
    package let holders: Int
    /// Seconds since 1970.
    let expiration: UInt64
    let bytes: Int

    package var lines: [String] {
        let end = LocalTime(seconds: expiration)
        guard holders > 0 else {
            return [
                "stored on this device only, until \(end): no other member is connected; a running node copies it to the"
                    + " next member that connects"
            ]
        }
        return ["stored with \(Self.members(holders)) at \(LocalTime(version: version)), until \(end)"]
    }

    package static func members(_ count: Int) -> String { "\(count) other member\(count == 1 ? "" : "s")" }
}

/// The result of a deletion.
package struct DeleteReport: Report, Hashable {
    let networkId: String
    let key: String
    /// The number of the deletion among the versions.
    let version: UInt64
    /// The number of other members that hold it.
    let holders: Int

    package var lines: [String] {
        holders > 0
            ? ["deleted, and \(PutReport.members(holders)) know\(holders == 1 ? "s" : "") it"]
            : ["deleted on this device only: no member is connected; a running node notifies the next one that is"]
    }
}

/// The value that one member stored under a key.
package struct RecordReport: Codable, Hashable, Sendable {
    let writer: String
    let writerText: String
    let version: UInt64
    /// Seconds since 1970.
    let expiration: UInt64
    package let bytes: Int
    /// The value, if it is a text.
    package let text: String?
    /// The value in base64, if it is none.
    let base64: String?

    init(_ record: DHTRecord) {
        writer = record.writer.base64Encoded
        writerText = record.writer.text
        version = record.version
        expiration = UnixTime.clampedSeconds(of: record.expiration)
        bytes = record.value.count
        text = String(utf8: record.value)
        base64 = text == nil ? Base64.encode(record.value) : nil
    }

    /// The value itself.
    package var value: [UInt8] {
        // Base64 of this version is valid; a node of another version might send text that is not.
        text.map { Array($0.utf8) } ?? (try? base64.map { try Base64.decode($0) }) ?? []  // see above
    }

    var line: String {
        "\(writerText)  \(LocalTime(version: version))  \(ContentText.shown(text, base64, bytes: bytes))"
    }
}

/// The values under a key, the newest first.
package struct RecordsReport: Report, Hashable {
    let networkId: String
    let key: String
    package let records: [RecordReport]
    /// The file to which the value was written.
    package var path: String?

    package var lines: [String] {
        guard let path, let record = records.first else { return records.map(\.line) }
        let time = LocalTime(version: record.version)
        return ["wrote \(record.bytes) bytes to \(path): stored at \(time) by \(record.writerText)"]
    }
}

extension LocalTime {
    /// Creates the time at which a value was stored, from its version: microseconds since 1970, of which a renewal adds one.
    init(version: UInt64) { self.init(seconds: version / 1_000_000) }
}

/// The members that were found without an address being typed.
package struct DiscoverReport: HintingReport {
    struct Peer: Codable, Hashable, Sendable {
        let peerId: String
        let peerIdText: String
        let networkId: String
        let networkName: String
        let label: String?
        /// `localNetwork`, `hashTable` or both.
        let sources: [String]
        /// The most promising first.
        let addresses: [String]
        let connected: Bool

        var line: String {
            let ways = sources.map { FoundBy(rawValue: $0)?.words ?? $0 }.joined(separator: " and ")
            let columns: [String?] = [peerIdText, networkName, ways, label, addresses.joined(separator: ", ")]
            return columns.compactMap(\.self).joined(separator: "  ")
        }
    }

    /// Whether the local network is listened to.
    let discovering: Bool
    let peers: [Peer]

    package var lines: [String] {
        guard peers.isEmpty else { return peers.map(\.line) }
        guard discovering else {
            return [
                "no member was found, and discovery on the local network is off: `runar status` shows the settings,"
                    + " `runar connect TEXT` dials by address"
            ]
        }
        return [
            "no member was found: `runar up` must run on the others, in the same local network and discovery group;"
                + " `runar connect TEXT` dials by address"
        ]
    }
}

/// The ways on which members are found, as reports name them.
enum FoundBy: String {
    case localNetwork
    case hashTable
    case address

    /// For people.
    var words: String {
        switch self {
        case .localNetwork: "nearby"
        case .hashTable: "by the hash table"
        case .address: "by address"
        }
    }
}
