internal import Bytes
internal import Concurrency
internal import Database
internal import GRDB
package import Identity

/// The traffic of a lease since its engine started, and whether its client has connected.
package struct LeaseUse: Sendable, Hashable {
    package let clientKey: Bytes32
    /// The bytes in both directions to add to those recorded.
    package let addedBytes: UInt64
    /// Whether a handshake has completed.
    package let isConfirmed: Bool

    package init(clientKey: Bytes32, addedBytes: UInt64, isConfirmed: Bool) {
        self.clientKey = clientKey
        self.addedBytes = addedBytes
        self.isConfirmed = isConfirmed
    }
}

extension GatewayStore {
    /// Spends a token and grants a lease in one transaction, so that a crash leaves both or neither.
    ///
    /// A client key with a lease keeps its slot, and its preshared key and end are replaced: a client whose answer was lost
    /// spends a further token and does not occupy a second address.
    ///
    /// - Throws: ``GatewayStoreError``; nothing was changed then, and the token is not spent.
    package func redeem(
        _ token: Bytes32,
        epoch: UInt64,
        _ request: LeaseRequest
    ) async throws(GatewayStoreError) -> Lease {
        let granted = try await write { database in
            guard try Self.spend(token, epoch: epoch, database) == .first else { throw GatewayStoreError.tokenSpent }
            return try grant(request, database)
        }
        if granted.isReplacement { await eraseNow() }
        return granted.lease
    }

    /// Grants a lease for a token that another spent set contains.
    ///
    /// - Throws: ``GatewayStoreError/full(limit:)``, ``GatewayStoreError/storage(_:)``.
    package func grant(_ request: LeaseRequest) async throws(GatewayStoreError) -> Lease {
        let granted = try await write { try grant(request, $0) }
        if granted.isReplacement { await eraseNow() }
        return granted.lease
    }

    /// The number of leases.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func leaseCount() async throws(GatewayStoreError) -> Int {
        try await read { try $0.value("SELECT lease_count FROM state") ?? 0 }
    }

    /// All leases in the order of their slots.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func leases() async throws(GatewayStoreError) -> [Lease] {
        try await read { database in
            try database.rows("SELECT * FROM leases ORDER BY slot", []).map { try Lease(row: $0) }
        }
    }

    /// The lease of a client; nil without one.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func lease(of clientKey: Bytes32) async throws(GatewayStoreError) -> Lease? {
        try await read { database in
            try database.rows("SELECT * FROM leases WHERE client_key = ?", [clientKey]).first.map { try Lease(row: $0) }
        }
    }

    /// The leases with more traffic than `byteCount`.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func leases(aboveByteCount byteCount: UInt64) async throws(GatewayStoreError) -> [Lease] {
        try await read { database in
            try database.rows("SELECT * FROM leases WHERE byte_count > ? ORDER BY slot", [byteCount])
                .map { try Lease(row: $0) }
        }
    }

    /// The leases that have ended at `time`, at most `limit`, in the order of their ends.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func due(at time: UInt64, limit: Int) async throws(GatewayStoreError) -> [Lease] {
        try await read { database in
            try database.rows("SELECT * FROM leases WHERE expires <= ? ORDER BY expires, slot LIMIT ?", [time, limit])
                .map { try Lease(row: $0) }
        }
    }

    /// Adds traffic to leases and confirms those whose clients have connected; leases that have ended are skipped.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func record(_ uses: [LeaseUse]) async throws(GatewayStoreError) {
        guard !uses.isEmpty else { return }
        try await write { database in
            for use in uses {
                try database.run(
                    "UPDATE leases SET byte_count = byte_count + ?, expires = CASE WHEN ? THEN ends ELSE expires END "
                        + "WHERE client_key = ?",
                    use.addedBytes,
                    use.isConfirmed,
                    use.clientKey
                )
            }
        }
    }

    /// Removes leases, with the keys of their clients, from every file; those that were replaced since are kept.
    ///
    /// - Returns: The leases of the same clients that are kept.
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func end(_ leases: [Lease]) async throws(GatewayStoreError) -> [Lease] {
        guard !leases.isEmpty else { return [] }
        let kept = try await write { database in
            try leases.compactMap { lease -> Lease? in
                // A replacement has another preshared key.
                try lease.presharedKey.withBytes { secret in
                    try database.run(
                        "DELETE FROM leases WHERE client_key = ? AND preshared_key = ?",
                        lease.clientKey,
                        secret
                    )
                }
                return try database.rows("SELECT * FROM leases WHERE client_key = ?", [lease.clientKey]).first
                    .map { try Lease(row: $0) }
            }
        }
        await eraseNow()
        return kept
    }

    /// Removes keys from the log that a committed write removed from the tables.
    private func eraseNow() async {
        isErasureDue.withLock { $0 = true }
        await erase()
    }

    /// - Throws: ``GatewayStoreError/full(limit:)``.
    private func grant(_ request: LeaseRequest, _ database: Database) throws -> (lease: Lease, isReplacement: Bool) {
        let replaced = try replace(request, database)
        let number = try replaced ?? add(request, database)
        guard let slot = LeaseSlot(number) else { throw MalformedColumn(name: "slot") }
        let lease = Lease(
            slot: slot,
            clientKey: request.clientKey,
            presharedKey: request.presharedKey,
            ends: request.ends
        )
        return (lease, replaced != nil)
    }

    /// Replaces the lease of the client; returns its slot, or nil without one.
    private func replace(_ request: LeaseRequest, _ database: Database) throws -> Int? {
        let query = "SELECT slot FROM leases WHERE client_key = ?"
        guard let slot = try database.value(query, request.clientKey, as: Int.self) else { return nil }
        try request.presharedKey.withBytes { secret in
            try database.run(
                "UPDATE leases SET preshared_key = ?, ends = ?, expires = ?, byte_count = 0 WHERE slot = ?",
                secret,
                request.ends,
                request.unconfirmedEnds,
                slot
            )
        }
        return slot
    }

    /// Adds a lease in the lowest free slot, which it returns.
    private func add(_ request: LeaseRequest, _ database: Database) throws -> Int {
        let slot = try lowestFreeSlot(database)
        try request.presharedKey.withBytes { secret in
            try database.run(
                "INSERT INTO leases (slot, client_key, preshared_key, ends, expires) VALUES (?, ?, ?, ?, ?)",
                slot,
                request.clientKey,
                secret,
                request.ends,
                request.unconfirmedEnds
            )
        }
        return slot
    }

    /// Takes the lowest free slot: every slot below `next_slot` has a lease or is in `free_slots`.
    private func lowestFreeSlot(_ database: Database) throws -> Int {
        guard let count = try database.value("SELECT lease_count FROM state", as: Int.self), count < leaseLimit else {
            throw GatewayStoreError.full(limit: leaseLimit)
        }
        if let freed = try database.value("SELECT min(slot) FROM free_slots", as: Int.self) {
            try database.run("DELETE FROM free_slots WHERE slot = ?", freed)
            return freed
        }
        guard let next = try database.value("SELECT next_slot FROM state", as: Int.self), next <= LeaseSlot.limit
        else { throw GatewayStoreError.full(limit: leaseLimit) }
        try database.run("UPDATE state SET next_slot = ?", next + 1)
        return next
    }
}
