internal import Bytes
internal import CommandModel
internal import Identity
internal import NodeStore
internal import Platform
internal import RunarNode

// A person's networks on paper, in a file, and on a new device.
extension RequestHandler {
    /// The label of the device that made a backup, on the device that took it.
    private static let formerLabel = "former device"

    /// Returns the content of a backup: the root key, the texts of the networks that it owns, and their records.
    package func backup() throws -> BackupContent {
        guard let secret = try keys.retrieve(id: BackupFile.rootName) else {
            throw CommandFailure(
                "no-key",
                .data,
                "this device has no root key, so there is nothing to back up: `runar network create` makes it",
                http: 404
            )
        }
        let owned = try networkReports().filter { $0.role == .owner }.compactMap(\.text)
        return BackupContent(
            rootKey: secret.withBytes { Hex.encode($0) },
            networks: owned,
            records: try backupRecords()
        )
    }

    private func backupRecords() throws -> BackupRecords {
        let settings = try ConfigurationFile.read(in: home.path).filter { $0.key.isPortable }
        return BackupRecords(
            peerId: node.peerId.base64Encoded,
            createdAt: now.wallSeconds,
            networks: try node.networks().filter(\.isOwner).map { network in
                BackupRecords.Network(
                    networkId: network.networkId.base64Encoded,
                    members: try node.stateStore.issuedTokens(of: network.networkId).map { token in
                        BackupRecords.Member(
                            peerId: token.peerId.base64Encoded,
                            expiration: token.expiration,
                            issuedAt: token.issuedAt,
                            label: token.label,
                            renewable: token.isRenewable
                        )
                    },
                    revocations: try node.revocationRecords(of: network.networkId).map { Base64.encode($0) }
                )
            },
            settings: Dictionary(uniqueKeysWithValues: settings.map { ($0.key.rawValue, $0.value) })
        )
    }

    /// Makes this device the owner of the networks of a backup, with their members and revocations.
    ///
    /// Settings of this home stay as they are.
    package func restore(_ content: BackupContent, replacing: Bool) async throws -> RestoreReport {
        _ = try importKey(BackupFile.rootName, hex: content.rootKey, replacing: replacing)
        for text in content.networks { _ = try await join(text) }
        guard let records = content.records else {
            return RestoreReport(
                restored: true,
                networks: content.networks.count,
                members: 0,
                revocations: 0,
                formerPeerId: nil,
                formerNetworks: []
            )
        }
        let former = try PeerId(base64Encoded: records.peerId)
        let owned = try Set(node.networks().filter(\.isOwner).map(\.networkId.base64Encoded))
        let networks = records.networks.filter { owned.contains($0.networkId) }
        let members = try networks.map { try restore($0, former, at: records.createdAt) }
        try restore(records.settings)
        let isRestored = former != node.peerId
        return RestoreReport(
            restored: true,
            networks: content.networks.count,
            members: members.reduce(0, +),
            revocations: networks.reduce(0) { $0 + $1.revocations.count },
            formerPeerId: isRestored ? records.peerId : nil,
            formerNetworks: isRestored
                ? try networks.map(\.networkId).filter {
                    try !revoked(in: NetworkId(base64Encoded: $0)).contains(former)
                } : []
        )
    }

    private func revoked(in network: NetworkId) throws -> Set<PeerId> {
        Set(try node.stateStore.revocations(of: network).map(\.peerId))
    }

    /// Returns the number of members that are not revoked, without the device that made the backup.
    private func restore(_ records: BackupRecords.Network, _ former: PeerId, at seconds: UInt64) throws -> Int {
        let network = try NetworkId(base64Encoded: records.networkId)
        var members = try records.members.map { member in
            IssuedToken(
                networkId: network,
                peerId: try PeerId(base64Encoded: member.peerId),
                expiration: member.expiration,
                issuedAt: member.issuedAt,
                label: member.label,
                isRenewable: member.renewable
            )
        }
        // Its own token has no end, and no device issued it to it: without an entry it could not be revoked by name.
        if former != node.peerId {
            members.append(
                IssuedToken(
                    networkId: network,
                    peerId: former,
                    expiration: nil,
                    issuedAt: seconds,
                    label: Self.formerLabel,
                    isRenewable: false
                )
            )
        }
        try node.restore(
            members: members.filter { $0.peerId != node.peerId },
            revocations: records.revocations.map { Array(try Base64.decode($0)) },
            of: network
        )
        let revoked = try revoked(in: network)
        return members.count { ![former, node.peerId].contains($0.peerId) && !revoked.contains($0.peerId) }
    }

    /// Adds settings that this home does not have; they act when the node starts again.
    private func restore(_ settings: [String: [String]]) throws {
        let present = try ConfigurationFile.read(in: home.path)
        for (name, values) in settings.sorted(by: { $0.key < $1.key }) {
            // A newer version may have others.
            guard let setting = Setting(rawValue: name), setting.isPortable, present[setting] == nil else { continue }
            try setting.check(values)
            try ConfigurationFile.set(setting, to: values, in: home.path)
        }
    }
}
