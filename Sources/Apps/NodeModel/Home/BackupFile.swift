internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
package import Platform

/// The vault that holds a backup: the root key, the texts of its networks, and the records that no text has.
///
/// `docs/spec/vault.md` specifies it.
package enum BackupFile {
    /// The name of the root key.
    package static let rootName = "root"
    /// The prefix of the names of networks' texts.
    package static let networkPrefix = "network/"
    /// The prefix of the names of the parts of the records, in their order.
    private static let recordsPrefix = "records/"
    /// An entry of a vault holds no more.
    private static let partByteCount = 4096
    /// 800 KiB, about 5000 members: the console takes files of 1 MiB.
    private static let partLimit = 200
    private static let digitCount = 4

    /// The keys of the vault that holds `content`.
    ///
    /// - Throws: ``CommandFailure`` if the records are too large.
    package static func storage(of content: BackupContent) throws -> InMemoryKeyStorage {
        let storage = InMemoryKeyStorage()
        var root = try Hex.decode(content.rootKey)
        try storage.store(SecretBytes(consuming: &root), id: rootName)
        for (position, text) in content.networks.enumerated() {
            try storage.store(SecretBytes(copying: Array(text.utf8)), id: "\(networkPrefix)\(position)")
        }
        guard let records = content.records else { return storage }
        let bytes = JSONText.bytes(records)
        guard bytes.count <= partByteCount * partLimit else {
            throw CommandFailure(
                "backup-too-large",
                .data,
                "the members and revocations take \(bytes.count) bytes, and a backup holds"
                    + " \(partByteCount * partLimit): keep the recovery phrase and the texts of the networks instead"
            )
        }
        for (position, start) in stride(from: 0, to: bytes.count, by: partByteCount).enumerated() {
            let part = Array(bytes[start..<min(start + partByteCount, bytes.count)])
            let number = String(repeating: "0", count: digitCount) + String(position)
            try storage.store(SecretBytes(copying: part), id: recordsPrefix + number.suffix(digitCount))
        }
        return storage
    }

    /// Reads a backup, nil if no root key is in it.
    ///
    /// A file of an earlier version has no records.
    ///
    /// - Throws: ``CommandFailure`` for records of a newer version or damaged ones; ``KeychainError``.
    package static func content(of storage: InMemoryKeyStorage) throws -> BackupContent? {
        guard let root = try storage.retrieve(id: rootName) else { return nil }
        let ids = try storage.list()
        let networks = try ids.filter { $0.hasPrefix(networkPrefix) }.compactMap { id in
            try storage.retrieve(id: id)?.withBytes { String(decoding: $0, as: UTF8.self) }
        }
        let parts = try ids.filter { $0.hasPrefix(recordsPrefix) }.compactMap { try storage.retrieve(id: $0) }
        let bytes = parts.flatMap { part in part.withBytes { Array($0) } }
        return BackupContent(
            rootKey: root.withBytes { Hex.encode($0) },
            networks: networks,
            records: bytes.isEmpty ? nil : try records(of: bytes)
        )
    }

    static func records(of bytes: [UInt8]) throws -> BackupRecords {
        struct Versioned: Decodable { let version: Int }
        do {
            guard try JSONText.decode(Versioned.self, from: bytes).version <= BackupRecords.version else {
                throw CommandFailure(
                    "newer-version",
                    .data,
                    "a newer version of Runar wrote this backup: restore it with that version"
                )
            }
            return try JSONText.decode(BackupRecords.self, from: bytes)
        } catch is DecodingError {
            throw CommandFailure("bad-backup", .data, "the records in this backup are damaged: use another backup")
        }
    }
}

/// The records of the networks that a device owned, and its settings.
package struct BackupRecords: Codable, Hashable, Sendable {
    /// A device that got a token.
    struct Member: Codable, Hashable, Sendable {
        /// 32 bytes in base64.
        let peerId: String
        /// The last second of the membership since 1970; nil if it does not end.
        let expiration: UInt64?
        let issuedAt: UInt64
        let label: String?
        let renewable: Bool
    }

    struct Network: Codable, Hashable, Sendable {
        /// 32 bytes in base64.
        let networkId: String
        let members: [Member]
        /// Signed entries in base64.
        let revocations: [String]
    }

    static let version = 1

    var version = Self.version
    /// The device that made the backup, 32 bytes in base64.
    let peerId: String
    /// In seconds since 1970.
    let createdAt: UInt64
    let networks: [Network]
    /// The settings of the home's file, without those that name paths and addresses of the machine.
    let settings: [String: [String]]
}

/// The content of a backup on its way between a command and its node; never printed.
package struct BackupContent: Report {
    package let rootKey: String
    /// Texts.
    package let networks: [String]
    package let records: BackupRecords?

    package init(rootKey: String, networks: [String], records: BackupRecords?) {
        self.rootKey = rootKey
        self.networks = networks
        self.records = records
    }

    package var lines: [String] { [] }
}

/// The result of a restoration.
package struct RestoreReport: HintingReport {
    let restored: Bool
    package let networks: Int
    let members: Int
    let revocations: Int
    /// The device that made the backup, 32 bytes in base64; nil if that is unknown or this one.
    package let formerPeerId: String?
    /// The networks in which that device is a member and not revoked, each with 32 bytes in base64.
    package let formerNetworks: [String]

    package var lines: [String] {
        guard networks > 0 else {
            return ["restored the root key; give the texts of its networks to `runar join` to own them here again"]
        }
        let count = "\(networks) network\(networks == 1 ? "" : "s")"
        var lines = ["restored the root key and \(count) with \(members) members and \(revocations) revocations"]
        if let formerPeerId, !formerNetworks.isEmpty {
            lines.append(
                "the device \(PeerId.typed(formerPeerId)) made the backup: if it is lost, revoke it with"
                    + " `runar network revoke \(PeerId.typed(formerPeerId))`"
            )
        }
        return lines
    }
}
