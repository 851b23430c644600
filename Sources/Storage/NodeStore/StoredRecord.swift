package import Database
internal import GRDB
package import Identity

/// A record of a network's hash table, filed under where it lies and whose it is.
package struct StoredRecord: Sendable, Hashable, WrittenRow {
    package static let table = "records"
    package static let key = ["network_id", "location", "writer"]

    /// The network whose hash table holds it.
    package var networkId: NetworkId
    /// The location: SHA-256 of the key, see `docs/spec/dht.md`.
    package var location: Bytes32
    /// The peer that wrote it.
    package var writer: PeerId
    /// The record in its binary form; nil forgets it.
    package var record: [UInt8]?

    package init(networkId: NetworkId, location: Bytes32, writer: PeerId, record: [UInt8]?) {
        self.networkId = networkId
        self.location = location
        self.writer = writer
        self.record = record
    }

    package func columns() -> [StoredColumn] {
        [
            ("network_id", networkId.column), ("location", location.column), ("writer", writer.column),
            ("record", record.column),
        ]
    }
}

extension NodeStore {
    /// Keeps and forgets records, all of them or none, each in place of an older one of the same place and writer.
    ///
    /// - Throws: ``StorageError``.
    package func keep(_ records: [StoredRecord]) throws(StorageError) {
        guard !records.isEmpty else { return }
        try database.write { database in
            for item in records {
                if item.record != nil {
                    try item.upsert(database)
                } else {
                    let sql = "DELETE FROM records WHERE network_id = ? AND location = ? AND writer = ?"
                    try database.run(sql, item.networkId, item.location, item.writer)
                }
            }
        }
    }

    /// The binary forms of all records of a network, by location and writer.
    ///
    /// - Throws: ``StorageError``.
    package func records(of network: NetworkId) throws(StorageError) -> [[UInt8]] {
        let sql = "SELECT record FROM records WHERE network_id = ? ORDER BY location, writer"
        return try database.read { try $0.values(sql, network) }
    }

    /// Forgets every record of a network.
    ///
    /// - Throws: ``StorageError``.
    package func forgetRecords(of network: NetworkId) throws(StorageError) {
        try database.write { try $0.run("DELETE FROM records WHERE network_id = ?", network) }
    }
}
