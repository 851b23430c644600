internal import Database
internal import Essentials
internal import Identity
internal import Kademlia
internal import Logging
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

// The state of a node in terms of the store.
extension NodeStore {
    /// Leaves everything in one file after a stop; a failure is logged, and nothing is lost.
    func checkpoint(_ logger: Logger) {
        do {
            try database.checkpoint()
        } catch {
            logger.notice("the state stays in two files, the database and its log: \(error)")
        }
    }

    /// Stores a fact that a running node learnt about others.
    func persist(_ item: NodeDriver.Persistence, at seconds: UInt64) throws {
        switch item {
        case .revocations(let entries): try addRevocations(entries)
        case .peer(let peer, let network, let place):
            try noteAdmission(
                of: peer,
                in: network,
                address: place?.address,
                hasAnswered: place?.hasAnswered ?? false,
                at: seconds
            )
        case .peersSeen(let peers): try noteSeen(peers, at: seconds)
        case .addressFailed(let peer, let address, false): try noteFailure(of: address, peer: peer)
        case .addressFailed(let peer, let address, true): try removeAddress(address, of: peer)
        case .revokedHere(let network):
            try removeToken(of: network)
            try forgetRecords(of: network)
            try deleteMail(of: network)
        case .joinGranted(let grant, _):
            try addMembership(grant.token, at: seconds)
            try addMetadata(grant.metadata, at: seconds)
            if let key = grant.token.rendezvous { try setRendezvous(key, of: grant.token.networkId) }
        case .tokenRenewed(let token):
            try update(token.networkId) { record in
                // Left meanwhile: it stays so.
                guard record.leftAt == nil else { return }
                record.token = token.binary
                record.tokenObtainedAt = seconds
            }
        case .joinAllowed, .renewalRequested, .memberSecrets, .record, .recordForgotten, .mail: return
        }
    }

    /// Stores this device's token of a network.
    func addMembership(_ token: AccessToken, at seconds: UInt64) throws {
        try update(token.networkId, orNew: NetworkRecord(token.networkId, at: seconds)) { record in
            record.token = token.binary
            record.tokenObtainedAt = seconds
            record.leftAt = nil
        }
    }

    /// Stores metadata unless a later version is known; a network that was left is known again.
    func addMetadata(_ metadata: NetworkMetadata, at seconds: UInt64) throws {
        let text = try metadata.qrString
        try update(metadata.networkId, orNew: NetworkRecord(metadata.networkId, at: seconds)) { record in
            let isNews = try record.networkMetadata().map { $0.version <= metadata.version } ?? true
            if isNews { record.metadata = text }
            record.leftAt = nil
        }
    }

    /// The revocations known in a network; they were verified before they were stored.
    func revocationSet(of network: NetworkId) throws -> RevocationSet {
        var set = RevocationSet(networkId: network)
        let entries = try revocations(of: network).map { try Revocation(binary: $0.entry) }
        try set.merge(entries, verifySignature: { _ in true })
        return set
    }

    /// Adds verified revocations.
    func addRevocations(_ entries: [Revocation]) throws {
        try merge(
            entries.map { StoredRevocation(networkId: $0.networkId, peerId: $0.peerId, entry: $0.binary) }
        )
        for entry in entries { try removeEvidence(of: entry.peerId, in: entry.networkId) }
    }
}

extension NetworkRecord {
    /// A network of which nothing but its id is known.
    init(_ networkId: NetworkId, at seconds: UInt64) {
        self.init(networkId: networkId, role: .member, metadata: "", joinedAt: seconds)
    }

    func accessToken() throws(IdentityError) -> AccessToken? {
        guard let token else { return nil }
        return try AccessToken(binary: token)
    }

    func networkMetadata() throws(IdentityError) -> NetworkMetadata? {
        metadata.isEmpty ? nil : try NetworkMetadata.fromQRString(metadata)
    }
}

extension StoredRecord {
    /// A record that a node holds.
    init(_ record: Record, in network: NetworkId) {
        self.init(
            networkId: network,
            location: Record.location(of: record.key, in: network),
            writer: record.writer,
            record: record.binary
        )
    }

    /// The removal of a record.
    init(forgetting id: RecordId, in network: NetworkId) {
        self.init(networkId: network, location: id.location, writer: id.writer, record: nil)
    }
}

extension NodeStore {
    /// The records of a network's hash table on this device; one that cannot be read is left out.
    func tableRecords(of network: NetworkId) throws -> [Record] {
        try records(of: network).compactMap { bytes in
            try? Record(binary: bytes)  // damaged on disk: the other replicas have it
        }
    }
}
