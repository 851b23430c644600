package import Database
internal import GRDB
package import Identity

/// A record of a network's hash table, filed under where it lies and whose it is.
package struct StoredRecord: Sendable, Hashable {
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
}

extension NodeStore {
    /// Keeps and forgets records, all of them or none, each in place of an older one of the same place and writer.
    ///
    /// - Throws: ``StorageError``.
    package func keep(_ records: [StoredRecord]) throws(StorageError) {
        guard !records.isEmpty else { return }
        try database.write { database in
            let insert = try database.makeStatement(
                sql: "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record"
            )
            let delete = try database.makeStatement(
                sql: "DELETE FROM records WHERE network_id = ? AND location = ? AND writer = ?"
            )
            for item in records {
                let name = [item.networkId.bytes.blob, item.location.bytes.blob, item.writer.bytes.blob]
                if let record = item.record {
                    try insert.execute(arguments: StatementArguments(name + [record.blob]))
                } else {
                    try delete.execute(arguments: StatementArguments(name))
                }
            }
        }
    }

    /// The binary forms of all records of a network, by location and writer.
    ///
    /// - Throws: ``StorageError``.
    package func records(of network: NetworkId) throws(StorageError) -> [[UInt8]] {
        try database.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT record FROM records WHERE network_id = ? ORDER BY location, writer",
                arguments: [network.bytes.blob]
            ).map { try $0.bytes("record") }
        }
    }

    /// Forgets every record of a network.
    ///
    /// - Throws: ``StorageError``.
    package func forgetRecords(of network: NetworkId) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: "DELETE FROM records WHERE network_id = ?",
                arguments: [network.bytes.blob]
            )
        }
    }
}
