internal import CommandModel
internal import Identity
internal import Node
internal import RunarNode

/// A device key that two running nodes use.
struct KeyUsedTwiceReport: Codable, Hashable, Sendable {
    /// Padded base64.
    let peerId: String
    let peerIdText: String
    let label: String?
    /// Whether it is the key of this device.
    let isOwn: Bool
    /// Seconds since 1970.
    let firstSeen: UInt64
    let lastSeen: UInt64
    /// The addresses of the nodes that use it, as far as they are known.
    let addresses: [String]

    /// The state in words, without the remedy.
    var message: String {
        let device = isOwn ? "this device's key" : "the key of \(label ?? String(peerIdText.prefix(8)))"
        let places = addresses.isEmpty ? "" : " (\(StatusReport.Discovery.list(addresses)))"
        return "\(device) is used in two places\(places), first noticed \(LocalTime(seconds: firstSeen))"
    }
}

extension RequestHandler {
    /// The device keys that two running nodes use, as far as this node noticed lately; that of this device first.
    ///
    /// - Throws: ``StorageError``.
    func keysUsedTwice() throws -> [KeyUsedTwiceReport] {
        let keys = node.keysUsedTwice
        guard !keys.isEmpty else { return [] }
        let known = try node.knownPeers()
        let reports = keys.map { key in
            KeyUsedTwiceReport(
                peerId: key.peer.base64Encoded,
                peerIdText: key.peer.text,
                label: known.first { $0.peerId == key.peer }?.label,
                isOwn: key.peer == node.peerId,
                firstSeen: key.firstSeenSeconds,
                lastSeen: key.lastSeenSeconds,
                addresses: key.addresses.map(\.description)
            )
        }
        return reports.filter(\.isOwn) + reports.filter { !$0.isOwn }
    }
}
