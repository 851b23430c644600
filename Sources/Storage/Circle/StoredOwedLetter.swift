internal import GRDB
package import Identity

/// A letter that is still to be sealed for a device.
package enum StoredOwedLetter: Sendable, Hashable {
    /// The receipt for the thought with a public id of 32 bytes.
    case receipt([UInt8])
    /// The card of this device's person.
    case card

    fileprivate init(_ row: Row) throws {
        let thought = try row.bytes("thought_public_id")
        self = thought.isEmpty ? .card : .receipt(thought)
    }

    fileprivate var thought: [UInt8] {
        switch self {
        case .receipt(let thought): thought
        case .card: []
        }
    }

    func insert(for peer: PeerId, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO owed_letters VALUES (?, ?)",
            arguments: [peer.bytes.blob, self.thought.blob]
        )
    }
}

extension StateStore {
    /// Notes that a device is to get a letter.
    ///
    /// - Throws: ``StorageError``.
    package func owe(_ letter: StoredOwedLetter, to peer: PeerId) throws(StorageError) {
        try write { try letter.insert(for: peer, $0) }
    }

    /// The letters that a device is to get.
    ///
    /// - Throws: ``StorageError``.
    package func owedLetters(to peer: PeerId) throws(StorageError) -> [StoredOwedLetter] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM owed_letters WHERE peer_id = ? ORDER BY thought_public_id",
                arguments: [peer.bytes.blob]
            ).map(StoredOwedLetter.init)
        }
    }

    /// Forgets letters that were sealed for a device.
    ///
    /// - Throws: ``StorageError``.
    package func settle(_ letters: [StoredOwedLetter], to peer: PeerId) throws(StorageError) {
        try write { database in
            for letter in letters {
                try database.execute(
                    sql: "DELETE FROM owed_letters WHERE peer_id = ? AND thought_public_id = ?",
                    arguments: [peer.bytes.blob, letter.thought.blob]
                )
            }
        }
    }
}
