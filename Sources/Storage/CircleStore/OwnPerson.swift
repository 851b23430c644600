package import CircleModel
package import Database
internal import GRDB
package import Identity

// This device's person: the card, and the device that the card names.
extension CircleStore {
    /// The signed bytes of the card of this device's person; nil before the first one.
    ///
    /// - Throws: ``StorageError``.
    package func ownCard() throws(StorageError) -> [UInt8]? {
        try database.read { try $0.value("SELECT card FROM own_person") }
    }

    /// Saves the account with the profile of a card, and the signed bytes of the card, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func save(_ account: StoredAccount, _ card: ProfileCard) throws(StorageError) {
        var account = account
        account.profileId = card.profile.id
        try database.write { database in
            try card.profile.upsert(database)
            try account.upsert(database)
            try database.run("UPDATE own_person SET card = ?", card.bytes)
        }
    }

    /// The id that this device had at its last start; nil before the first one.
    ///
    /// - Throws: ``StorageError``.
    package func ownDevice() throws(StorageError) -> PeerId? {
        try database.read { try $0.value("SELECT device FROM own_person") }
    }

    /// Notes the id of this device.
    ///
    /// - Throws: ``StorageError``.
    package func setOwnDevice(_ device: PeerId) throws(StorageError) {
        try database.write { try $0.run("UPDATE own_person SET device = ?", device) }
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
                try database.run("DELETE FROM \(table)")
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
        try database.read { try $0.value("SELECT removed_at FROM removed_devices WHERE peer_id = ?", device) }
    }

    /// Notes the time at which a device left its person's card, in seconds since 1970, and deletes the mail and the
    /// letters for it, all or nothing.
    ///
    /// - Throws: ``StorageError``.
    package func removeDevice(_ device: PeerId, at seconds: UInt64) throws(StorageError) {
        try database.write { database in
            try database.run("INSERT OR REPLACE INTO removed_devices VALUES (?, ?)", device, seconds)
            try Self.forget(device, database)
        }
    }

    /// The devices without a known person whose requests are ignored, the oldest first.
    ///
    /// - Throws: ``StorageError``.
    package func ignoredDevices() throws(StorageError) -> [PeerId] {
        try database.read { try $0.values("SELECT peer_id FROM ignored_devices ORDER BY number") }
    }

    /// Stores the devices whose requests are ignored, the oldest first, in place of those before.
    ///
    /// - Throws: ``StorageError``; then nothing was changed.
    package func setIgnoredDevices(_ devices: [PeerId]) throws(StorageError) {
        try database.write { database in
            try database.run("DELETE FROM ignored_devices")
            for device in devices {
                try database.run("INSERT OR IGNORE INTO ignored_devices (peer_id) VALUES (?)", device)
            }
        }
    }
}
