/// Whether a node runs on the home, and how it is set up.
struct StatusReport: Report {
    let isRunning: Bool
    let home: String
    let processId: Int32?
    /// Padded base64; nil when nobody has opened the keys.
    let peerId: String?
    /// The form that people type.
    let peerIdText: String?
    let addresses: [String]
    let uptimeSeconds: UInt64?
    let networks: Int?
    let connectedPeers: Int?
    let configuration: [SettingReport]

    private enum CodingKeys: String, CodingKey {
        case isRunning = "running"
        case home
        case processId
        case peerId
        case peerIdText
        case addresses
        case uptimeSeconds
        case networks
        case connectedPeers
        case configuration
    }

    var lines: [String] {
        var lines = [
            isRunning ? "node      running (process \(processId ?? 0))" : "node      not running: `runar up` starts it"
        ]
        lines.append("home      \(home)")
        if let peerIdText { lines.append("peer id   \(peerIdText)") }
        if !addresses.isEmpty { lines.append("listens   \(addresses.joined(separator: ", "))") }
        if let networks { lines.append("networks  \(networks)") }
        if let connectedPeers { lines.append("peers     \(connectedPeers) connected") }
        if let uptimeSeconds { lines.append("up for    \(DurationText.text(of: .seconds(uptimeSeconds)))") }
        for setting in configuration {
            lines.append(
                "setting   \(setting.key.rawValue) = \(setting.values.joined(separator: ", ")) (\(setting.source.rawValue))"
            )
        }
        return lines
    }
}

/// That a node stops.
struct StopReport: Report {
    let stopped: Bool
    let processId: Int32?

    var lines: [String] { [stopped ? "stopped" : "no node was running"] }
}

/// Who is connected.
struct PeersReport: Report {
    struct Peer: Codable, Hashable, Sendable {
        let peerId: String
        let peerIdText: String
        /// The networks in which both are admitted, in padded base64.
        let networks: [String]
        /// Their names, as far as they are known.
        let networkNames: [String]
    }

    let isRunning: Bool
    let peers: [Peer]

    private enum CodingKeys: String, CodingKey {
        case isRunning = "running"
        case peers
    }

    var lines: [String] {
        guard isRunning else { return ["no node runs, so nobody is connected: `runar up` starts it"] }
        guard !peers.isEmpty else { return ["nobody is connected: dial somebody with `runar connect TEXT`"] }
        return peers.map { "\($0.peerIdText)  \($0.networkNames.joined(separator: ", "))" }
    }
}

/// A peer that was reached.
struct ConnectReport: Report {
    let peerId: String
    let networkId: String
    let address: String

    var lines: [String] { ["connected to \(peerId) at \(address); both are admitted"] }
}

/// A message that arrived at every peer named.
struct SentReport: Report {
    let peerIds: [String]
    let bytes: Int

    var lines: [String] { [peerIds.count == 1 ? "delivered" : "delivered to \(peerIds.count) peers"] }
}

/// A file that the peer has checked and stored.
struct FileSentReport: Report {
    let peerId: String
    let path: String
    let bytes: UInt64
    let milliseconds: Int

    var lines: [String] {
        let speed = Double(bytes) / (Double(max(milliseconds, 1)) / 1000)
        return [
            "delivered \(ByteCountText.text(of: Double(bytes))) in \(milliseconds) ms (\(ByteCountText.text(of: speed))/s)"
        ]
    }
}

/// Nothing but that it worked.
struct DoneReport: Report {
    let done: Bool

    var lines: [String] { [] }
}
