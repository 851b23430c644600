internal import Platform

/// The place of the stored registration.
package protocol SnapshotStore: Sendable {
    /// Returns the stored bytes; nil if there are none.
    func load() throws -> [UInt8]?

    /// Stores bytes in place of earlier ones, and returns once they are durable.
    func save(_ bytes: [UInt8]) throws
}

/// A stored registration in a file, which is replaced as a whole.
package struct SnapshotFile: SnapshotStore {
    private let path: String

    /// Uses the file at a path.
    package init(path: String) {
        self.path = path
    }

    package func load() throws -> [UInt8]? {
        try AtomicFile.read(path, limit: RegistrationSnapshot.byteLimit)
    }

    package func save(_ bytes: [UInt8]) throws {
        try AtomicFile.write(bytes, to: path)
    }
}
