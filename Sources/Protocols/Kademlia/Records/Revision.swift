public import Identity

/// The order of several records under a key: by version, and by writer where versions tie.
public struct Revision: Hashable, Comparable, Sendable {
    /// Grows with every record of a writer.
    public var version: UInt64
    /// The writer of the record.
    public var writer: PeerId

    package init(version: UInt64, writer: PeerId) {
        self.version = version
        self.writer = writer
    }

    /// Whether `left` is the older one.
    public static func < (left: Revision, right: Revision) -> Bool {
        left.version == right.version ? left.writer < right.writer : left.version < right.version
    }
}

/// The identity of a stored record: its location and its writer.
package struct RecordId: Hashable, Comparable, Sendable {
    /// See ``Record/location(of:in:)``.
    package var location: Bytes32
    package var writer: PeerId

    package init(location: Bytes32, writer: PeerId) {
        self.location = location
        self.writer = writer
    }

    package static func < (left: RecordId, right: RecordId) -> Bool {
        left.location == right.location ? left.writer < right.writer : left.location < right.location
    }
}
