package import Database
internal import GRDB
package import Identity

// Values of which a device has one each.
extension NodeStore {
    /// The UDP port of the last run that could have any; nil if there was none.
    ///
    /// - Throws: ``StorageError``.
    package func listeningPort() throws(StorageError) -> UInt16? {
        try database.read { database in
            try Row.fetchOne(database, sql: "SELECT listening_port FROM device")?.optionalNumber("listening_port")
                .map { UInt16(truncatingIfNeeded: $0) }
        }
    }

    /// Notes the UDP port of this run.
    ///
    /// - Throws: ``StorageError``, ``StorageError/invalid(_:)`` for 0.
    package func setListeningPort(_ port: UInt16) throws(StorageError) {
        try database.write { try $0.execute(sql: "UPDATE device SET listening_port = ?", arguments: [port]) }
    }

    /// The fingerprint (32 bytes) of the root key whose networks were counted from the first one on, or from an index that
    /// a person gave; nil if there is none.
    ///
    /// - Throws: ``StorageError``.
    package func countedRoot() throws(StorageError) -> [UInt8]? {
        try database.read {
            try Row.fetchOne($0, sql: "SELECT counted_root FROM device")?.optionalBytes("counted_root")
        }
    }

    /// Stores the fingerprint (32 bytes) of the root key whose networks were counted.
    ///
    /// - Throws: ``StorageError``.
    package func setCountedRoot(_ fingerprint: [UInt8]) throws(StorageError) {
        try database.write { try $0.execute(sql: "UPDATE device SET counted_root = ?", arguments: [fingerprint.blob]) }
    }

    /// The ids of the keys that a renewal replaces, until all of them are revoked.
    ///
    /// - Throws: ``StorageError``.
    package func replacedDevices() throws(StorageError) -> Set<PeerId> {
        try database.read { database in
            Set(try Row.fetchAll(database, sql: "SELECT peer_id FROM replaced_devices").map { try $0.peerId() })
        }
    }

    /// Stores the ids of the keys that a renewal replaces, in place of those before.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func setReplacedDevices(_ peers: Set<PeerId>) throws(StorageError) {
        try database.write { database in
            try database.execute(sql: "DELETE FROM replaced_devices")
            let statement = try database.makeStatement(sql: "INSERT INTO replaced_devices VALUES (?)")
            for peer in peers { try statement.execute(arguments: [peer.bytes.blob]) }
        }
    }
}
