internal import Identity
internal import Kademlia
internal import Logging
internal import Node
internal import Storage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// What a running node wants kept, or decided by what is kept.
extension RunarNode {
    /// Carries out items in order; records that follow each other are stored together.
    func carryOut(_ items: [NodeDriver.Persistence]) {
        var records: [StoredRecord] = []
        for item in items {
            if let record = StoredRecord(item) {
                if case .record(let network, let record) = item {
                    self.tables.refresh(with: record, in: network, at: self.clock.now())
                }
                records.append(record)
                continue
            }
            self.attempt { try self.store.keep(records) }
            records = []
            self.attempt { try self.carryOut(item) }
        }
        self.attempt { try self.store.keep(records) }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            self.logs[.storage].error("the state could not be stored: \(error)")
        }
    }

    private func carryOut(_ item: NodeDriver.Persistence) throws {
        switch item {
        case .joinAllowed(let request): try self.allow(request)
        case .memberSecrets(let secrets): try self.save(secrets)
        case .renewalRequested(let request): try self.decide(request)
        case .joinGranted, .revokedHere:
            try self.store.persist(item, at: self.wallSeconds)
            self.networksChanged()
        case .revocations(let entries):
            for entry in entries { self.tables.removeRecords(of: entry.peerId, in: entry.networkId) }
            try self.store.persist(item, at: self.wallSeconds)
        default: try self.store.persist(item, at: self.wallSeconds)
        }
    }

    /// Gives a member a token that lasts as long as the last one that this device signed for it, if this device holds the
    /// network's key and never said that that one was the last.
    private func decide(_ request: RenewalRequest) throws {
        let driver = try self.running()
        let issued = try self.store.issuedToken(of: request.peer, in: request.network)
        // A device that was given the network's key, or restored its root key, does not know what was signed elsewhere, and
        // whether that was the last.
        guard let issued else {
            self.logs[.connections].notice(
                "\(request.peer.short) wants a new token and its last one was not issued here: issue one to renew it again"
            )
            return driver.renew(request, with: nil)
        }
        let isOwner = try self.store.network(request.network)?.derivationIndex != nil
        guard self.config.grantsRenewals, issued.isRenewable,
            try isOwner || self.holdsNetworkKey(of: request.network)
        else { return driver.renew(request, with: nil) }
        // The last one may be later than the one shown, when it was signed but never arrived.
        let life = issued.expiration.map { $0 > issued.issuedAt ? $0 - issued.issuedAt : 0 }
        let end = self.wallSeconds + max(life ?? Self.standardLifeSeconds, Self.shortestLifeSeconds)
        let token = try self.issueToken(for: request.peer, in: request.network, expiration: UnixTime.date(end))
        driver.renew(request, with: token)
    }

    /// The life of a token whose predecessor has no end: 30 days.
    private static let standardLifeSeconds: UInt64 = 30 * 86_400
    private static let shortestLifeSeconds: UInt64 = 60
}

extension StoredRecord {
    /// The part of a node's hash table that an item changes, or nil when it changes something else.
    fileprivate init?(_ item: NodeDriver.Persistence) {
        switch item {
        case .record(let network, let record):
            self.init(
                networkId: network,
                location: Record.location(of: record.key, in: network),
                writer: record.writer,
                record: record.binary
            )
        case .recordForgotten(let network, let id):
            self.init(networkId: network, location: id.location, writer: id.writer, record: nil)
        default: return nil
        }
    }
}

extension StateStore {
    /// What this device holds of a network's hash table; a record that cannot be read is left out.
    func tableRecords(of network: NetworkId) throws -> [Record] {
        try self.records(of: network).compactMap { bytes in
            try? Record(binary: bytes)  // damaged on disk: the other holders have it
        }
    }
}
