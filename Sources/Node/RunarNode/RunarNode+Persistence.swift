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
                if case .record(let network, let record) = item { self.refreshCache(with: record, in: network) }
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
            self.logger.error("the state could not be stored: \(error)")
        }
    }

    private func carryOut(_ item: NodeDriver.Persistence) throws {
        switch item {
        case .joinAllowed(let request): try self.answer(request, allow: true)
        case .memberSecrets(let secrets): try self.save(secrets)
        case .renewalRequested(let request): try self.decide(request)
        case .revocations(let entries):
            for entry in entries { self.forgetCached(of: entry.peerId, in: entry.networkId) }
            try self.store.persist(item, at: self.wallSeconds)
        default: try self.store.persist(item, at: self.wallSeconds)
        }
    }

    /// Gives a member a token that lasts as long as its old one did, if this device owns the network and never said
    /// that the old one was the last.
    private func decide(_ request: RenewalRequest) throws {
        let driver = try self.running()
        guard self.config.grantsRenewals, let end = request.token.expirationSeconds,
            try self.store.network(request.network)?.derivationIndex != nil
        else { return driver.renew(request, with: nil) }
        let issued = try self.store.issuedToken(of: request.peer, in: request.network)
        guard issued?.isRenewable != false else { return driver.renew(request, with: nil) }
        let life = issued.map { end > $0.issuedAt ? end - $0.issuedAt : 0 } ?? Self.standardLifeSeconds
        let token = try self.issueToken(
            for: request.peer,
            in: request.network,
            expiration: UnixTime.date(self.wallSeconds + max(life, Self.shortestLifeSeconds))
        )
        driver.renew(request, with: token)
    }

    /// What a token lasts whose beginning is not known here: 30 days.
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
