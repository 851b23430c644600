package import Database
package import GRDB
package import Identity

/// A mail in one of the two folders of this device, without its body.
package struct StoredMail: Sendable, Hashable, StoredRow, Codable {
    /// The reason why this device stores a mail.
    package enum Folder: String, Sendable, Hashable, Codable {
        /// It is on its way from this device.
        case outgoing
        /// It is held for another member.
        case held
    }

    package var folder: Folder
    package var networkId: NetworkId
    /// The 16 bytes of its id.
    package var mailId: [UInt8]
    /// The mailbox that it is for, 32 bytes.
    package var mailbox: [UInt8]
    /// The recipient of outgoing mail, the depositor of held mail.
    package var peerId: PeerId
    /// Seconds since 1970.
    package var expiration: UInt64
    /// The bytes of the body.
    package var byteCount: Int
    /// The members that the recipient chose as holders.
    package var homes: [PeerId]
    /// The members that hold outgoing mail.
    package var holders: [PeerId]
    /// The members that were requested to relay outgoing mail, ascending.
    package var relays: [PeerId] = []

    package static let table = "mail"
    package static let key = ["folder", "network_id", "mail_id"]

    /// The columns; the relays are rows of their own.
    private enum CodingKeys: String, CodingKey {
        case folder
        case networkId = "network_id"
        case mailId = "mail_id"
        case mailbox
        case peerId = "peer_id"
        case expiration
        case byteCount = "byte_count"
        case homes
        case holders
    }

    package init(
        folder: Folder,
        networkId: NetworkId,
        mailId: [UInt8],
        mailbox: [UInt8],
        peerId: PeerId,
        expiration: UInt64,
        byteCount: Int,
        homes: [PeerId] = [],
        holders: [PeerId] = [],
        relays: [PeerId] = []
    ) {
        self.folder = folder
        self.networkId = networkId
        self.mailId = mailId
        self.mailbox = mailbox
        self.peerId = peerId
        self.expiration = expiration
        self.byteCount = byteCount
        self.homes = homes
        self.holders = holders
        self.relays = relays
    }
}

/// A mail with its body, as the table has it.
private struct MailRow: WrittenRow {
    static let (table, key) = (StoredMail.table, StoredMail.key)

    let mail: StoredMail
    let body: [UInt8]

    func columns() throws -> [StoredColumn] { try mail.columns() + [("body", body.column)] }
}

extension NodeStore {
    /// Deletes the mail on its way to a device within a transaction.
    package static func deleteOutgoingMail(to device: PeerId, _ database: Database) throws {
        try database.run("DELETE FROM mail WHERE folder = 'outgoing' AND peer_id = ?", device)
    }

    /// Stores mails with their bodies, all of them or none; one that is stored already stays as it is.
    ///
    /// - Throws: ``StorageError``.
    package func addMail(_ mails: [(mail: StoredMail, body: [UInt8])]) throws(StorageError) {
        guard !mails.isEmpty else { return }
        try database.write { database in
            for (mail, body) in mails { try MailRow(mail: mail, body: body).insert(database) }
        }
    }

    /// Stores an outgoing mail with its body unless its network has `limit` of them; returns whether there was room.
    ///
    /// - Throws: ``StorageError``.
    package func addOutgoingMail(_ mail: StoredMail, body: [UInt8], limit: Int) throws(StorageError) -> Bool {
        try database.write { database in
            guard try Self.outgoingMailCount(in: mail.networkId, database) < limit else { return false }
            try MailRow(mail: mail, body: body).insert(database)
            return true
        }
    }

    /// The number of outgoing mails in a network.
    ///
    /// - Throws: ``StorageError``.
    package func outgoingMailCount(in network: NetworkId) throws(StorageError) -> Int {
        try database.read { try Self.outgoingMailCount(in: network, $0) }
    }

    /// The mails of a folder in one network, in the order in which they were stored.
    ///
    /// - Throws: ``StorageError``.
    package func mails(in folder: StoredMail.Folder, of network: NetworkId) throws(StorageError) -> [StoredMail] {
        try database.read { database in
            let arguments: StatementArguments = [folder.rawValue, network.blob]
            let relays = try Self.relays(ofMailIn: arguments, database)
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT number, folder, network_id, mail_id, mailbox, peer_id, expiration, byte_count, homes, holders
                    FROM mail WHERE folder = ? AND network_id = ? ORDER BY number
                    """,
                arguments: arguments
            ).map { row in
                var mail = try StoredMail(row: row)
                mail.relays = relays[try row.value("number")] ?? []
                return mail
            }
        }
    }

    /// The relays of the mails in a folder of a network, by the number of the mail.
    private static func relays(
        ofMailIn folder: StatementArguments,
        _ database: Database
    ) throws -> [UInt64: [PeerId]] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, mail_relays.peer_id AS peer_id FROM mail_relays JOIN mail USING (number)
                WHERE folder = ? AND network_id = ? ORDER BY number, mail_relays.peer_id
                """,
            arguments: folder
        )
        return try rows.reduce(into: [:]) { relays, row in
            relays[try row.value("number"), default: []].append(try row.value("peer_id"))
        }
    }

    /// The bodies of those of the mails that are stored, with the expiration, by id.
    ///
    /// - Throws: ``StorageError``.
    package func mailBodies(
        of ids: [[UInt8]],
        in folder: StoredMail.Folder,
        of network: NetworkId
    ) throws(StorageError) -> [[UInt8]: (mailbox: [UInt8], expiration: UInt64, body: [UInt8])] {
        try database.read { database in
            let statement = try database.makeStatement(
                sql: "SELECT mailbox, expiration, body FROM mail WHERE folder = ? AND network_id = ? AND mail_id = ?"
            )
            var bodies: [[UInt8]: (mailbox: [UInt8], expiration: UInt64, body: [UInt8])] = [:]
            for id in ids {
                let arguments: StatementArguments = [folder.rawValue, network.blob, id.blob]
                guard let row = try Row.fetchOne(statement, arguments: arguments) else { continue }
                bodies[id] = (try row.value("mailbox"), try row.value("expiration"), try row.value("body"))
            }
            return bodies
        }
    }

    /// Stores which members hold an outgoing mail.
    ///
    /// - Throws: ``StorageError``.
    package func setHolders(_ holders: [PeerId], of id: [UInt8], in network: NetworkId) throws(StorageError) {
        try database.write { database in
            let sql = "UPDATE mail SET holders = ? WHERE folder = 'outgoing' AND network_id = ? AND mail_id = ?"
            try database.run(sql, holders, network, id)
        }
    }

    /// Stores that members are requested to relay an outgoing mail; those that are stored already stay.
    ///
    /// - Throws: ``StorageError``.
    package func addRelays(_ relays: [PeerId], of id: [UInt8], in network: NetworkId) throws(StorageError) {
        guard !relays.isEmpty else { return }
        try database.write { database in
            let sql = """
                INSERT OR IGNORE INTO mail_relays (number, peer_id)
                SELECT number, ? FROM mail WHERE folder = 'outgoing' AND network_id = ? AND mail_id = ?
                """
            for relay in relays { try database.run(sql, relay, network, id) }
        }
    }

    /// Deletes mails, all of them or none.
    ///
    /// - Throws: ``StorageError``.
    package func deleteMail(
        _ ids: [[UInt8]],
        in folder: StoredMail.Folder,
        of network: NetworkId
    ) throws(StorageError) {
        guard !ids.isEmpty else { return }
        try database.write { database in
            let sql = "DELETE FROM mail WHERE folder = ? AND network_id = ? AND mail_id = ?"
            for id in ids { try database.run(sql, folder.rawValue, network, id) }
        }
    }

    /// Deletes all mail of a network.
    ///
    /// - Throws: ``StorageError``.
    package func deleteMail(of network: NetworkId) throws(StorageError) {
        try database.write { try $0.run("DELETE FROM mail WHERE network_id = ?", network) }
    }

    private static func outgoingMailCount(in network: NetworkId, _ database: Database) throws -> Int {
        let sql = "SELECT count(*) FROM mail WHERE folder = 'outgoing' AND network_id = ?"
        return try database.value(sql, network) ?? 0
    }
}
