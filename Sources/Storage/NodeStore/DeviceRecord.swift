package import Database
internal import GRDB
package import Identity

// Values of which a device has one each.
extension NodeStore {
    /// The UDP port of the last run that could have any; nil if there was none.
    ///
    /// - Throws: ``StorageError``.
    package func listeningPort() throws(StorageError) -> UInt16? {
        try database.read { try $0.value("SELECT listening_port FROM device") }
    }

    /// Notes the UDP port of this run.
    ///
    /// - Throws: ``StorageError``, ``StorageError/invalid(_:)`` for 0.
    package func setListeningPort(_ port: UInt16) throws(StorageError) {
        try database.write { try $0.run("UPDATE device SET listening_port = ?", port) }
    }

    /// The fingerprint (32 bytes) of the root key whose networks were counted from the first one on, or from an index that
    /// a person gave; nil if there is none.
    ///
    /// - Throws: ``StorageError``.
    package func countedRoot() throws(StorageError) -> [UInt8]? {
        try database.read { try $0.value("SELECT counted_root FROM device") }
    }

    /// Stores the fingerprint (32 bytes) of the root key whose networks were counted.
    ///
    /// - Throws: ``StorageError``.
    package func setCountedRoot(_ fingerprint: [UInt8]) throws(StorageError) {
        try database.write { try $0.run("UPDATE device SET counted_root = ?", fingerprint) }
    }

    /// The ids of the keys that a renewal replaces, until all of them are revoked.
    ///
    /// - Throws: ``StorageError``.
    package func replacedDevices() throws(StorageError) -> Set<PeerId> {
        try database.read { Set(try $0.values("SELECT peer_id FROM replaced_devices")) }
    }

    /// Stores the ids of the keys that a renewal replaces, in place of those before.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func setReplacedDevices(_ peers: Set<PeerId>) throws(StorageError) {
        try database.write { database in
            try database.execute(sql: "DELETE FROM replaced_devices")
            for peer in peers { try database.run("INSERT INTO replaced_devices VALUES (?)", peer) }
        }
    }
}
