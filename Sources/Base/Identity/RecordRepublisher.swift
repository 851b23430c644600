/// The records that this node writes to a hash table under its own names, each with the state of its write.
///
/// A record is republished before it expires (Maymounkov and Mazières, 2002, section 2.5). A failed write is retried, and a
/// change during a write is written after it.
package struct RecordRepublisher<Name: Hashable & Comparable & Sendable>: Sendable {
    /// A write to perform; its outcome is reported with ``noteOutcome(of:isWritten:at:)``.
    package struct Write: Hashable, Sendable {
        package let name: Name
        /// Whether to write the record; false deletes it.
        package let isPresent: Bool
    }

    private struct Record: Sendable {
        /// Whether the record is wanted.
        var isWanted = false
        /// Whether the table has the record.
        var isPresent = false
        /// The write under way: whether it writes, and not deletes, the record.
        var write: Bool?
        /// The time of the next write.
        var dueAt: Duration?
    }

    private let renewal: Duration
    private let retry: Duration
    private var records: [Name: Record] = [:]

    /// Creates a republisher that writes each record every `renewal`, and tries a failed write again after `retry`.
    package init(renewal: Duration, retry: Duration) {
        self.renewal = renewal
        self.retry = retry
    }

    /// The earliest time at which a record is written again.
    package var earliestDue: Duration? { records.values.lazy.compactMap(\.dueAt).min() }

    /// Replaces the names of the records that are wanted, and returns the writes which that needs.
    package mutating func setWanted(_ names: some Sequence<Name>) -> [Write] {
        let wanted = Set(names)
        for name in wanted where records[name] == nil { records[name] = Record() }
        return records.keys.sorted().compactMap { setWanted(wanted.contains($0), $0) }
    }

    /// Changes whether a record is wanted, and returns the write which that needs.
    package mutating func setWanted(_ isWanted: Bool, _ name: Name) -> Write? {
        guard isWanted || records[name] != nil else { return nil }
        records[name, default: Record()].isWanted = isWanted
        guard let record = records[name], record.write == nil, record.isPresent != isWanted else { return nil }
        return begin(name)
    }

    private mutating func begin(_ name: Name) -> Write? {
        guard let isWanted = records[name]?.isWanted else { return nil }
        records[name]?.write = isWanted
        records[name]?.dueAt = nil
        return Write(name: name, isPresent: isWanted)
    }

    /// Notes the outcome of a write, and returns the next one if the record was changed meanwhile.
    package mutating func noteOutcome(of name: Name, isWritten: Bool, at now: Duration) -> Write? {
        guard var record = records[name], let write = record.write else { return nil }
        record.write = nil
        if isWritten { record.isPresent = write }
        records[name] = record
        guard record.isWanted || record.isPresent else {
            records[name] = nil
            return nil
        }
        if record.isPresent == record.isWanted {
            records[name]?.dueAt = now + (isWritten ? renewal : retry)
        } else if isWritten {
            return begin(name)
        } else {
            records[name]?.dueAt = now + retry
        }
        return nil
    }

    /// Returns the writes that are due.
    package mutating func takeDue(at now: Duration) -> [Write] {
        let due = records.filter { $0.value.dueAt.map { $0 <= now } ?? false }
        return due.keys.sorted().compactMap { begin($0) }
    }
}
