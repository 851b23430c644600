package import Database
internal import GRDB
package import Identity

/// A letter that is still to be sealed for a device.
package struct StoredOwedLetter: Sendable, Hashable, StoredRow, Codable {
    /// The subject of the letter.
    package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The receipt for a thought that this device has stored.
        case receipt
        /// The receipt for a thought that this device's person saw.
        case opened
        /// The card of this device's person.
        case card
        /// The description of a stream.
        case stream
        /// Whether a person participates in a stream.
        case participation
        /// The trust in a person, for this person's other devices.
        case person
    }

    package static let table = "owed_letters"
    package static let key = ["peer_id", "kind", "public_id"]

    private enum CodingKeys: String, CodingKey {
        case kind
        case publicID = "public_id"
    }

    package let kind: Kind
    /// The 32 bytes of the public id of the thought, the stream or the person; empty for the card.
    package let publicID: [UInt8]

    package init(_ kind: Kind, _ publicID: [UInt8] = []) {
        self.kind = kind
        self.publicID = publicID
    }

    func insert(for peer: PeerId, _ database: Database) throws {
        let sql = "INSERT INTO owed_letters VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        try database.run(sql, peer, kind.rawValue, publicID)
    }
}

extension CircleStore {
    /// Records letters as owed to each of some devices.
    ///
    /// - Throws: ``StorageError``.
    package func owe(_ letters: [StoredOwedLetter], to peers: [PeerId]) throws(StorageError) {
        guard !peers.isEmpty else { return }
        try database.write { database in
            for peer in peers { for letter in letters { try letter.insert(for: peer, database) } }
        }
    }

    /// The letters that a device is owed.
    ///
    /// - Throws: ``StorageError``.
    package func owedLetters(to peer: PeerId) throws(StorageError) -> [StoredOwedLetter] {
        try database.read { database in
            // The description of a stream goes before the part that a person takes in it.
            let clause = "WHERE peer_id = ? ORDER BY kind = 'participation', kind, public_id"
            return try StoredOwedLetter.all(database, clause, peer)
        }
    }

    /// Forgets letters that were sealed for a device.
    ///
    /// - Throws: ``StorageError``.
    package func settle(_ letters: [StoredOwedLetter], to peer: PeerId) throws(StorageError) {
        try database.write { database in
            for letter in letters {
                let sql = "DELETE FROM owed_letters WHERE peer_id = ? AND kind = ? AND public_id = ?"
                try database.run(sql, peer, letter.kind.rawValue, letter.publicID)
            }
        }
    }
}
