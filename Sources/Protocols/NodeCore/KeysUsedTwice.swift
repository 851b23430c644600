package import Identity
internal import OrderedCollections

/// The record of a device key that two running nodes use: one of them has a copy of the other's data directory.
package struct KeyUseRecord: Hashable, Sendable {
    /// The device, which may be this one.
    package let peer: PeerId
    package let firstSeen: NodeTime
    package fileprivate(set) var lastSeen: NodeTime
    /// The addresses of the nodes that use the key, the newest last; empty if only a peer reported this device's key.
    package fileprivate(set) var addresses: [SocketAddress] = []
    /// The number of replacements since the record began, which makes the pauses longer.
    fileprivate var replacements = 0
    /// The time before which no returning instance replaces the connected one.
    fileprivate var replaceableAt = Duration.zero

    fileprivate init(_ peer: PeerId, at now: NodeTime) {
        self.peer = peer
        firstSeen = now
        lastSeen = now
    }
}

/// The device keys that this node observed in use by two running nodes.
struct KeysUsedTwice: Sendable {
    /// The decision about an instance that returns while another one is connected.
    enum Decision: Hashable, Sendable {
        /// Close the connections of both, so that both are notified.
        case closeBoth
        /// Close the connection of the returning one.
        case refuse
        /// Close the connections of the other one.
        case replace
    }

    /// The most records; the least recently seen one is replaced.
    static let recordLimit = 64
    /// The most addresses of one record: two nodes with some interfaces each.
    static let addressLimit = 8

    /// The records, the least recently seen first.
    private var records = OrderedDictionary<PeerId, KeyUseRecord>()
    private let limits: Limits

    init(limits: Limits) {
        self.limits = limits
    }

    /// The records that are not quiet, the least recently seen first.
    func records(at now: NodeTime) -> [KeyUseRecord] { records.values.filter { !isQuiet($0, now) } }

    /// The record of a device, unless it is quiet.
    func record(of peer: PeerId, at now: NodeTime) -> KeyUseRecord? {
        records[peer].flatMap { isQuiet($0, now) ? nil : $0 }
    }

    private func isQuiet(_ record: KeyUseRecord, _ now: NodeTime) -> Bool {
        now.monotonic - record.lastSeen.monotonic >= limits.keyQuietTime
    }

    /// Renews the record of a device, or begins one; returns whether it began.
    mutating func note(_ peer: PeerId, at addresses: [SocketAddress], _ now: NodeTime) -> Bool {
        while let oldest = records.values.first, isQuiet(oldest, now) { records.removeFirst() }
        let known = records.removeValue(forKey: peer)
        var record = known ?? KeyUseRecord(peer, at: now)
        record.lastSeen = now
        for address in addresses where address.isDialable {
            record.addresses.removeAll { $0 == address }
            record.addresses.append(address)
        }
        record.addresses = Array(record.addresses.suffix(Self.addressLimit))
        if known == nil, records.count >= Self.recordLimit { records.removeFirst() }
        records[peer] = record
        return known == nil
    }

    // MARK: Replacements

    /// Decides about an instance of a device that returns while another one is connected.
    func decision(about peer: PeerId, at now: NodeTime) -> Decision {
        guard let record = self.record(of: peer, at: now), record.replacements > 0 else { return .closeBoth }
        return now.monotonic < record.replaceableAt ? .refuse : .replace
    }

    /// Notes that the connections of an instance were closed in favour of another one; the next pause begins.
    mutating func noteReplacement(of peer: PeerId, at now: NodeTime, using random: inout some RandomNumberGenerator) {
        guard let count = records[peer].map({ $0.replacements + 1 }) else { return }
        records[peer]?.replacements = count
        records[peer]?.replaceableAt = now.monotonic + limits.keyPause(after: count).jittered(using: &random)
    }
}

extension Limits {
    /// The pause after a number of replacements, without jitter: it doubles with each.
    func keyPause(after count: Int) -> Duration {
        min(longestKeyPause, firstKeyPause * (1 << min(max(0, count - 1), 16)))
    }
}

extension Duration {
    /// A duration of which half is fixed and half is drawn.
    func jittered(using random: inout some RandomNumberGenerator) -> Duration {
        self * Int64.random(in: 500...1000, using: &random) / 1000
    }
}
