package import Database
internal import GRDB
package import Identity

// This device's person: the card, and the device that the card names.
extension CircleStore {
    /// The signed bytes of the card of this device's person; nil before the first one.
    ///
    /// - Throws: ``StorageError``.
    package func ownCard() throws(StorageError) -> [UInt8]? {
        try database.read { try Row.fetchOne($0, sql: "SELECT card FROM own_person")?.optionalBytes("card") }
    }

    /// Saves the account with its profile, and the signed bytes of the card that has this profile, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ account: StoredAccount, card: [UInt8]) throws(StorageError) {
        try database.write { database in
            try account.save(database)
            try database.execute(sql: "UPDATE own_person SET card = ?", arguments: [card.blob])
        }
    }

    /// The id that this device had at its last start; nil before the first one.
    ///
    /// - Throws: ``StorageError``.
    package func ownDevice() throws(StorageError) -> PeerId? {
        try database.read { database in
            try Row.fetchOne(database, sql: "SELECT device FROM own_person WHERE device IS NOT NULL")?.peerId("device")
        }
    }

    /// Notes the id of this device.
    ///
    /// - Throws: ``StorageError``.
    package func setOwnDevice(_ device: PeerId) throws(StorageError) {
        try database.write { try $0.execute(sql: "UPDATE own_person SET device = ?", arguments: [device.bytes.blob]) }
    }

    /// Deletes the circle of a person whose place another one takes: people, streams with their thoughts, owed letters
    /// and the notes about them, in one transaction.
    ///
    /// The account, the card and the blocks stay.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func deleteCircle() throws(StorageError) {
        try database.write { database in
            for table in [
                "people", "streams", "owed_letters", "removed_devices", "removed_members", "opened_thoughts",
                "deleted_streams", "ignored_devices",
            ] {
                try database.execute(sql: "DELETE FROM \(table)")
            }
        }
    }
}

// Devices that left a card, and devices whose requests are ignored.
extension CircleStore {
    /// The time at which this device's person removed a device, in seconds since 1970; nil if it was not removed.
    ///
    /// - Throws: ``StorageError``.
    package func removalTime(of device: PeerId) throws(StorageError) -> UInt64? {
        try database.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT removed_at FROM removed_devices WHERE peer_id = ?",
                arguments: [device.bytes.blob]
            )?.number("removed_at")
        }
    }

    /// Notes the time at which a device left its person's card, in seconds since 1970, and deletes the mail and the
    /// letters for it, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func removeDevice(_ device: PeerId, at seconds: UInt64) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO removed_devices VALUES (?, ?)",
                arguments: [device.bytes.blob, seconds.integer]
            )
            try Self.forget(device, database)
        }
    }

    /// The devices without a known person whose requests are ignored, the oldest first.
    ///
    /// - Throws: ``StorageError``.
    package func ignoredDevices() throws(StorageError) -> [PeerId] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT peer_id FROM ignored_devices ORDER BY number").map { row in
                try row.peerId()
            }
        }
    }

    /// Stores the devices whose requests are ignored, the oldest first, in place of those before.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func setIgnoredDevices(_ devices: [PeerId]) throws(StorageError) {
        try database.write { database in
            try database.execute(sql: "DELETE FROM ignored_devices")
            let statement = try database.makeStatement(
                sql: "INSERT OR IGNORE INTO ignored_devices (peer_id) VALUES (?)"
            )
            for device in devices { try statement.execute(arguments: [device.bytes.blob]) }
        }
    }
}
