internal import Bytes
internal import CommandModel
internal import Identity
package import RunarNode

/// Whether a node runs on the home, and how it is set up.
package struct StatusReport: HintingReport {
    /// The discovery of members on the local network.
    struct Discovery: Codable, Hashable, Sendable {
        let running: Bool
        /// Groups and ports.
        let groups: [String]
        /// The interfaces on which they are joined at this moment.
        let interfaces: [String]
        /// The interfaces that are left out because there are too many.
        let leftOutInterfaces: [String]

        /// The names that a line shows; `--json` has all.
        private static let shownCount = 8

        /// Some names, and the number of the others.
        static func list(_ names: [String]) -> String {
            let others = names.count - shownCount
            return names.prefix(shownCount).joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
        }

        var line: String {
            guard running else { return "discovery on the local network is off" }
            let place = interfaces.isEmpty ? "no interface yet" : interfaces.joined(separator: ", ")
            let leftOut = leftOutInterfaces.isEmpty ? "" : "; left out: \(Self.list(leftOutInterfaces))"
            return "looking for members on \(place), in \(groups.joined(separator: ", "))\(leftOut)"
        }
    }

    /// The state of a network's hash table.
    struct Table: Codable, Hashable, Sendable {
        let networkId: String
        let networkName: String
        /// Members in the routing table.
        let members: Int
        /// Values that this node holds, also for others.
        let records: Int
        let recordBytes: Int
        /// The number of these that are its own.
        let ownRecords: Int

        var line: String {
            "\(networkName): \(members) member\(members == 1 ? "" : "s") known,"
                + " \(records) value\(records == 1 ? "" : "s") held (\(ownRecords) of this device)"
        }
    }

    /// Whether a network's events are exchanged.
    struct Events: Codable, Hashable, Sendable {
        let networkId: String
        let networkName: String
        /// Whether no member is connected to exchange them with.
        let isIsolated: Bool

        var line: String {
            isIsolated
                ? "\(networkName): isolated, no member is connected"
                : "\(networkName): exchanged with other members"
        }
    }

    /// A membership that is about to end.
    struct Expiring: Codable, Hashable, Sendable {
        let networkId: String
        let networkName: String
        /// Seconds since 1970.
        let expiration: UInt64
        /// Whether this node asks for a new token.
        let isRenewing: Bool

        var line: String {
            let end = "the membership in \(networkName) ends \(LocalTime(seconds: expiration))"
            return isRenewing
                ? "\(end): the owner's device renews it when both are connected; else ask for a new token"
                : "\(end), and renewTokens is off: ask its owner for a new token"
        }
    }

    /// A network whose owner revoked this device.
    struct Revoked: Codable, Hashable, Sendable {
        let networkId: String
        let networkName: String

        /// Returns nil for a network that has not revoked this device.
        init?(_ state: MembershipState) {
            guard state.isRevoked else { return nil }
            networkId = state.networkId.base64Encoded
            networkName = state.name ?? state.networkId.short
        }

        var line: String {
            "the owner of \(networkName) revoked this device: only a device with a new key can be invited again,"
                + " `runar doctor` says how"
        }
    }

    let running: Bool
    let home: String
    var processId: Int32?
    /// Padded base64; nil when the id is not known.
    package let peerId: String?
    /// The form that people type.
    let peerIdText: String?
    let addresses: [String]
    var uptimeSeconds: UInt64?
    /// The address of the console, if it runs.
    var console: String?
    /// The console's addresses for devices of the local network, if it is open to them.
    var consoleLan: [String]?
    var networks: Int?
    var connectedPeers: Int?
    /// Nil when no node runs.
    var discovery: Discovery?
    /// The networks' hash tables, as far as this node knows them; nil when no node runs.
    var tables: [Table]?
    /// The exchange of the networks' events; nil when no node runs.
    var events: [Events]?
    /// Memberships that end within seven days or have ended; nil when no node runs.
    var expiring: [Expiring]?
    /// Networks whose owners revoked this device; nil when no node runs.
    var revoked: [Revoked]?
    /// Device keys that two running nodes use, as far as this node noticed lately; nil when no node runs.
    var keysUsedTwice: [KeyUsedTwiceReport]?
    /// The reason why the node cannot store its state at the moment; nil if it can, or if no node runs.
    var storageProblem: String?
    let configuration: [SettingReport]

    package var lines: [String] {
        var lines = [
            running ? "node      running (process \(processId ?? 0))" : "node      not running: `runar up` starts it"
        ]
        lines.append("home      \(home)")
        if let peerIdText { lines.append("peer id   \(peerIdText)") }
        if !addresses.isEmpty { lines.append("listens   \(addresses.joined(separator: ", "))") }
        if let console { lines.append("console   \(console): open it with `runar console`") }
        if let consoleLan { lines.append("          \(consoleLan.joined(separator: ", ")) on the local network") }
        if let networks { lines.append("networks  \(networks)") }
        if let connectedPeers { lines.append("peers     \(connectedPeers) connected") }
        if let discovery { lines.append("nearby    \(discovery.line)") }
        for table in tables ?? [] { lines.append("table     \(table.line)") }
        for exchange in events ?? [] { lines.append("events    \(exchange.line)") }
        if let storageProblem { lines.append("warning   the state cannot be stored: \(storageProblem)") }
        for key in keysUsedTwice ?? [] { lines.append("warning   \(key.message): `runar doctor` names the remedy") }
        for network in revoked ?? [] { lines.append("warning   \(network.line)") }
        for membership in expiring ?? [] { lines.append("warning   \(membership.line)") }
        if let uptimeSeconds { lines.append("up for    \(DurationText.text(of: .seconds(uptimeSeconds)))") }
        for setting in configuration {
            lines.append(
                "setting   \(setting.key.rawValue) = \(setting.values.joined(separator: ", ")) (\(setting.source.rawValue))"
            )
        }
        return lines
    }
}

extension StatusReport {
    /// The status of a home in which no node runs; `peer` is the device's id, if it is known.
    package init(idle home: DataDirectory, peer: PeerId?, configuration: [SettingReport]) {
        self.init(
            running: false,
            home: home.path,
            peerId: peer?.base64Encoded,
            peerIdText: peer?.text,
            addresses: [],
            configuration: configuration
        )
    }
}
