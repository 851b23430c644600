internal import Identity
internal import OrderedCollections

// What stands in the network's hash table, for requesters that are connected to nobody who offers what they want.
//
// Each node that offers a service writes a record of its own under the service's key, so that several do not overwrite
// each other. A record only says who offers a service; what it has and whether it runs is announced on connecting.
extension Services {
    /// What the key of a service's records begins with.
    private static let recordLabel = DomainLabel("runar/service-provider/v1")
    /// The value of such a record.
    package static let recordValue: [UInt8] = [1]

    /// The key under which those who offer a service write their records.
    package static func recordKey(of service: some StringProtocol) -> [UInt8] {
        self.recordLabel.message(Array(service.utf8))
    }

    /// Whether a key of the hash table belongs to the records of a service, so that an application never wrote it.
    package static func isRecordKey(_ key: [UInt8]) -> Bool { key.starts(with: self.recordLabel.prefix) }
}

/// The records that this node writes of its own services, each with the state of its write.
struct OwnRecords: Sendable {
    private let renewal: Duration
    private let retry: Duration
    private var records: OrderedDictionary<String, OwnRecord> = [:]

    init(limits: Services.Limits) {
        self.renewal = limits.recordRenewal
        self.retry = limits.recordRetry
    }

    /// The earliest time at which a record is written again.
    var earliestDue: Duration? { self.records.values.lazy.compactMap(\.dueAt).min() }

    /// Requests a write for each new service, and a deletion for each one that is no longer offered.
    mutating func setOffered(_ offers: [ServiceOffer], _ effects: inout [Services.Effect]) {
        for name in self.records.keys { self.records[name]?.isOffered = false }
        for offer in offers { self.records[offer.path, default: OwnRecord()].isOffered = true }
        for (name, record) in self.records where !record.isWriting && record.stands != record.isOffered {
            self.write(name, &effects)
        }
    }

    private mutating func write(_ name: String, _ effects: inout [Services.Effect]) {
        guard var record = self.records[name] else { return }
        record.isWriting = true
        record.written = record.isOffered
        record.dueAt = nil
        self.records[name] = record
        effects.append(.record(name, isOffered: record.isOffered))
    }

    /// Notes the outcome of a write.
    mutating func noteWrite(
        _ name: String,
        _ isWritten: Bool,
        at now: Duration,
        _ effects: inout [Services.Effect]
    ) {
        guard var record = self.records[name], record.isWriting else { return }
        record.isWriting = false
        if isWritten { record.stands = record.written }
        if !record.isOffered, !record.stands {
            self.records[name] = nil
            return
        }
        if record.stands == record.isOffered {
            record.dueAt = now + (isWritten ? self.renewal : self.retry)
        } else if !isWritten {
            record.dueAt = now + self.retry
        }
        self.records[name] = record
        // What it says changed while it was being written.
        if record.dueAt == nil { self.write(name, &effects) }
    }

    mutating func writeDue(at now: Duration, _ effects: inout [Services.Effect]) {
        for (name, record) in self.records {
            guard let dueAt = record.dueAt, dueAt <= now else { continue }
            self.write(name, &effects)
        }
    }
}

/// The record of a service of this node in the hash table.
private struct OwnRecord: Sendable {
    /// Whether this node offers the service.
    var isOffered = false
    /// Whether a record says so.
    var stands = false
    /// Whether one is being written or deleted, and which of the two.
    var isWriting = false
    var written = false
    /// When it is written again.
    var dueAt: Duration?
}
