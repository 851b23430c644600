package import Database
package import GRDB
package import Identity

/// A mail in one of the two folders of this device, without its body.
package struct StoredMail: Sendable, Hashable {
    /// The reason why this device stores a mail.
    package enum Folder: String, Sendable, Hashable {
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
    package var relays: [PeerId]

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

extension NodeStore {
    /// Deletes the mail on its way to a device within a transaction.
    package static func deleteOutgoingMail(to device: PeerId, _ database: Database) throws {
        let sql = "DELETE FROM mail WHERE folder = 'outgoing' AND peer_id = ?"
        try database.execute(sql: sql, arguments: [device.bytes.blob])
    }

    /// Stores mails with their bodies, all of them or none; one that is stored already stays as it is.
    ///
    /// - Throws: ``StorageError``.
    package func addMail(_ mails: [(mail: StoredMail, body: [UInt8])]) throws(StorageError) {
        guard !mails.isEmpty else { return }
        try database.write { try Self.insert(mails, $0) }
    }

    /// Stores an outgoing mail with its body unless its network has `limit` of them; returns whether there was room.
    ///
    /// - Throws: ``StorageError``.
    package func addOutgoingMail(_ mail: StoredMail, body: [UInt8], limit: Int) throws(StorageError) -> Bool {
        try database.write { database in
            guard try Self.outgoingMailCount(in: mail.networkId, database) < limit else { return false }
            try Self.insert([(mail, body)], database)
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
            let arguments: StatementArguments = [folder.rawValue, network.bytes.blob]
            let relays = try Self.relays(ofMailIn: arguments, database)
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT number, mail_id, mailbox, peer_id, expiration, byte_count, homes, holders FROM mail
                    WHERE folder = ? AND network_id = ? ORDER BY number
                    """,
                arguments: arguments
            ).map { row in
                StoredMail(
                    folder: folder,
                    networkId: network,
                    mailId: try row.bytes("mail_id"),
                    mailbox: try row.bytes("mailbox"),
                    peerId: try row.peerId(),
                    expiration: try row.number("expiration"),
                    byteCount: Int(clamping: try row.number("byte_count")),
                    homes: try Self.peers(in: row.bytes("homes")),
                    holders: try Self.peers(in: row.bytes("holders")),
                    relays: relays[try row.number("number")] ?? []
                )
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
        return try rows.reduce(into: [:]) { try $0[$1.number("number"), default: []].append($1.peerId()) }
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
                let arguments: StatementArguments = [folder.rawValue, network.bytes.blob, id.blob]
                guard let row = try Row.fetchOne(statement, arguments: arguments) else { continue }
                bodies[id] = (try row.bytes("mailbox"), try row.number("expiration"), try row.bytes("body"))
            }
            return bodies
        }
    }

    /// Stores which members hold an outgoing mail.
    ///
    /// - Throws: ``StorageError``.
    package func setHolders(_ holders: [PeerId], of id: [UInt8], in network: NetworkId) throws(StorageError) {
        try database.write { database in
            try database.execute(
                sql: "UPDATE mail SET holders = ? WHERE folder = 'outgoing' AND network_id = ? AND mail_id = ?",
                arguments: [Self.blob(of: holders).blob, network.bytes.blob, id.blob]
            )
        }
    }

    /// Stores that members are requested to relay an outgoing mail; those that are stored already stay.
    ///
    /// - Throws: ``StorageError``.
    package func addRelays(_ relays: [PeerId], of id: [UInt8], in network: NetworkId) throws(StorageError) {
        guard !relays.isEmpty else { return }
        try database.write { database in
            let statement = try database.makeStatement(
                sql: """
                    INSERT OR IGNORE INTO mail_relays (number, peer_id)
                    SELECT number, ? FROM mail WHERE folder = 'outgoing' AND network_id = ? AND mail_id = ?
                    """
            )
            for relay in relays {
                try statement.execute(arguments: [relay.bytes.blob, network.bytes.blob, id.blob])
            }
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
            let statement = try database.makeStatement(
                sql: "DELETE FROM mail WHERE folder = ? AND network_id = ? AND mail_id = ?"
            )
            for id in ids {
                try statement.execute(arguments: [folder.rawValue, network.bytes.blob, id.blob])
            }
        }
    }

    /// Deletes all mail of a network.
    ///
    /// - Throws: ``StorageError``.
    package func deleteMail(of network: NetworkId) throws(StorageError) {
        try database.write { database in
            try database.execute(sql: "DELETE FROM mail WHERE network_id = ?", arguments: [network.bytes.blob])
        }
    }

    private static func insert(_ mails: [(mail: StoredMail, body: [UInt8])], _ database: Database) throws {
        let statement = try database.makeStatement(
            sql: """
                INSERT OR IGNORE INTO mail
                (folder, network_id, mail_id, mailbox, peer_id, expiration, byte_count, homes, holders, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        for (mail, body) in mails {
            try statement.execute(arguments: [
                mail.folder.rawValue, mail.networkId.bytes.blob, mail.mailId.blob, mail.mailbox.blob,
                mail.peerId.bytes.blob, mail.expiration.integer, mail.byteCount, blob(of: mail.homes).blob,
                blob(of: mail.holders).blob, body.blob,
            ])
        }
    }

    private static func outgoingMailCount(in network: NetworkId, _ database: Database) throws -> Int {
        try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM mail WHERE folder = 'outgoing' AND network_id = ?",
            arguments: [network.bytes.blob]
        ) ?? 0
    }

    private static func blob(of peers: [PeerId]) -> [UInt8] { peers.flatMap(\.bytes) }

    private static func peers(in bytes: [UInt8]) throws -> [PeerId] {
        try stride(from: 0, to: bytes.count, by: PeerId.byteCount).map { start in
            try PeerId(rawRepresentation: bytes[start..<min(start + PeerId.byteCount, bytes.count)])
        }
    }
}
