internal import Bytes
package import CommandModel
internal import Identity
internal import Platform
internal import RunarNode

/// The result of stopping a node.
package struct StopReport: Report {
    let stopped: Bool
    let processId: Int32?

    package init(stopped: Bool, processId: Int32?) {
        self.stopped = stopped
        self.processId = processId
    }

    package var lines: [String] { [stopped ? "stopped" : "no node was running"] }
}

/// The peers that are connected, or all that are known.
package struct PeersReport: HintingReport {
    struct Peer: Codable, Hashable, Sendable {
        let peerId: String
        let peerIdText: String
        /// The networks in which both are admitted, in padded base64.
        let networks: [String]
        /// Their names, as far as they are known.
        let networkNames: [String]
        /// The label that this device's person gave it with its token.
        let label: String?
        let connected: Bool
        /// Whether another member passes its packets on; nil when it is not connected.
        let relayed: Bool?
        /// The destination of its packets on a direct path.
        let address: String?
        /// The member that relays them otherwise, in padded base64, if it is known.
        let relay: String?
        /// `localNetwork` if it announces itself on the local network now, `address` if a person entered one, `hashTable` if
        /// only a hash table names it; else it dialled this device or was met before.
        let foundBy: [String]
        /// The last time at which it was connected, in seconds since 1970: now if it is; nil for never.
        let lastSeen: UInt64?
        /// Smoothed; nil when it is not connected, or before it was measured.
        let roundTripMicroseconds: Int?
        /// The manual disconnect of the two; nil if there was none, or it has expired.
        var disconnected: ManualDisconnect?

        /// A manual disconnect, after which the two do not connect by themselves for a time.
        struct ManualDisconnect: Codable, Hashable, Sendable {
            /// Whether that was asked on this device; else on the other.
            let byThisDevice: Bool
            /// In seconds since 1970.
            let until: UInt64

            init?(_ manualDisconnect: PeerDisconnect?, at now: UInt64) {
                guard let manualDisconnect else { return nil }
                byThisDevice = manualDisconnect.isOurs
                until = now + manualDisconnect.secondsLeft
            }
        }

        /// The connection state, or the last time at which it was connected, for people.
        var presence: String {
            if connected {
                guard relayed == true else { return "connected" }
                return "connected over " + (relay.map(PeerId.typed) ?? "another member")
            }
            if let disconnected {
                return disconnected.byThisDevice ? "disconnected here" : "disconnected by its person"
            }
            return lastSeen.map { "last seen \(LocalTime(seconds: $0))" } ?? "never seen"
        }
    }

    /// Whether this device can have peers at all.
    enum Membership: String, CaseIterable, Codable, Sendable {
        case member
        /// It is a member of no network.
        case none
        /// The owners of all its networks revoked it.
        case revoked
    }

    let running: Bool
    /// Whether the peers that are not connected are among them.
    let all: Bool
    let membership: Membership
    let peers: [Peer]

    package var lines: [String] {
        switch membership {
        case .member: break
        case .none:
            return [
                "this device is a member of no network: `runar join` takes an invitation, and"
                    + " `runar network create NAME` makes a network"
            ]
        case .revoked:
            return ["the owner of the network removed this device: \(CommandFailure.adviceAfterRevocation)"]
        }
        guard running || all else {
            return ["no node runs, so no device is connected: `runar up` starts it, `runar peers --all` lists all"]
        }
        guard !peers.isEmpty else {
            return [
                all
                    ? "no device is known yet: `runar network invite` admits one, `runar connect TEXT` dials one"
                    : "no device is connected; devices on this local network connect by themselves, others with"
                        + " `runar connect TEXT`"
            ]
        }
        return TextTable.lines(
            ["NAME", "NETWORKS", "STATE", "ROUND TRIP", "FOUND BY", "ID"],
            peers.map { peer in
                [
                    peer.label,
                    peer.networkNames.joined(separator: ", "),
                    peer.presence,
                    peer.roundTripMicroseconds.map { "\((Double($0) / 100).rounded() / 10) ms" },
                    peer.foundBy.map { FoundBy(rawValue: $0)?.words ?? $0 }.joined(separator: " and "),
                    peer.peerIdText,
                ]
            }
        )
    }
}

/// A peer that was reached.
package struct ConnectReport: Report {
    let peerId: String
    let networkId: String
    /// The destination of packets on a direct path.
    package let address: String?
    /// Whether another member relays them.
    package let relayed: Bool
    /// The member that relays them, if it is known.
    package let relay: String?

    init(peerId: PeerId, networkId: NetworkId, path: PeerPath?) {
        self.peerId = peerId.base64Encoded
        self.networkId = networkId.base64Encoded
        address = path?.address?.description
        relayed = path?.isRelayed ?? false
        relay = path?.relay?.base64Encoded
    }

    package var lines: [String] {
        let way = relayed ? "over \(relay.map(PeerId.typed) ?? "another member")" : address.map { "at \($0)" }
        return ["connected to \(PeerId.typed(peerId)) \(way ?? ""); both are admitted"]
    }
}

/// A message that arrived at the peer named.
package struct SentReport: Report {
    let peerIds: [String]
    let bytes: Int
    /// Its number among the messages that a running node keeps.
    var number: Int?

    package var lines: [String] { ["delivered"] }
}

/// The outcome of a message to all connected peers.
package struct BroadcastReport: Report {
    /// A peer that did not confirm the message.
    struct Failure: Codable, Hashable, Sendable {
        let peerId: String
        let peerIdText: String
        let code: String
        let message: String
    }

    /// The peers that confirmed the message.
    let peerIds: [String]
    /// The peers that may not have it, ascending by id.
    let failures: [Failure]
    let bytes: Int
    /// The failure if a peer may not have it.
    package let error: CommandFailure?
    /// Its number among the messages that a running node keeps.
    private(set) var number: Int?

    init(delivered: [PeerId], failures: [PeerId: any Error] = [:], bytes: Int) {
        peerIds = delivered.map(\.base64Encoded)
        self.failures = failures.sorted { $0.key < $1.key }.map { peer, error in
            let failure = CommandFailure(error)
            return Failure(
                peerId: peer.base64Encoded,
                peerIdText: peer.text,
                code: failure.code,
                message: failure.message
            )
        }
        self.bytes = bytes
        guard !failures.isEmpty else {
            error = nil
            return
        }
        let reasons = self.failures.map { "\($0.peerIdText): \($0.message)" }.joined(separator: "\n")
        error = CommandFailure(
            delivered.isEmpty ? "not-delivered" : "partly-delivered",
            .unavailable,
            "\(failures.count) of \(delivered.count + failures.count) peers did not confirm the message:\n\(reasons)"
        )
    }

    /// Returns the report with the number of the message.
    func numbered(_ number: Int) -> BroadcastReport {
        var report = self
        report.number = number
        return report
    }

    package var lines: [String] {
        guard failures.isEmpty else { return peerIds.compactMap { PeerId($0) }.map { "delivered to \($0.text)" } }
        return ["delivered to \(peerIds.count) peer\(peerIds.count == 1 ? "" : "s")"]
    }
}

/// A file that the peer has checked and stored.
package struct FileSentReport: Report {
    package let peerId: String
    let path: String
    /// The name of the file at the peer.
    package let name: String
    package let bytes: UInt64
    /// Whether the file has grown since it was offered: the peer has its first `bytes` bytes.
    package let hasGrown: Bool
    package let milliseconds: Int

    package var lines: [String] {
        let speed = Double(bytes) / (Double(max(milliseconds, 1)) / 1000)
        let size = ByteCountText.text(of: Double(bytes))
        var lines = ["delivered \(size) in \(milliseconds) ms (\(ByteCountText.text(of: speed))/s)"]
        if name != FilePath.name(of: path) { lines.append("it is stored there as \(name)") }
        if hasGrown { lines.append("the file has grown meanwhile: the peer has its first \(bytes) bytes") }
        return lines
    }
}

/// Nothing but that it worked.
package struct DoneReport: Report {
    let done: Bool

    package init(done: Bool) {
        self.done = done
    }

    package var lines: [String] { [] }
}
