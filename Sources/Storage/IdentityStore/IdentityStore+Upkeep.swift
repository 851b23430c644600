internal import Concurrency
package import Database
internal import GRDB

/// The state of erasures.
struct Upkeep: Sendable {
    /// The number of copies that are being written; each reads one state to its end, so the log cannot be emptied.
    var copies = 0
    /// Whether the log may contain rows of deleted accounts, as it may after the death of a process.
    var isErasureDue = true
}

/// The numbers of rows of an identity server.
package struct IdentityTotals: Sendable, Hashable, StoredRow, Codable {
    package let accounts: UInt64
    package let credentials: UInt64
    package let sessions: UInt64

    package static let table = "totals"
    package static let key = ["id"]
}

extension IdentityStore {
    /// The most rows that one transaction of ``expire(at:)`` removes.
    static let expiryBatch = 1_000

    /// The numbers of accounts, passkeys and sessions, which cost one row.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    package func totals() async throws(IdentityStoreError) -> IdentityTotals {
        let totals = try await read { try IdentityTotals.first($0) }
        guard let totals else { throw .storage(.corrupted(path: database.path, detail: "the table totals is empty")) }
        return totals
    }

    /// Removes sessions and revocations that have expired, and completes erasures; returns the number of sessions.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``; some may be removed then.
    @discardableResult
    package func expire(at time: UInt64) async throws(IdentityStoreError) -> Int {
        let sessions = try await expire("sessions", "id", at: time)
        _ = try await expire("revoked_sessions", "number", at: time)
        if upkeep.withLock({ $0.isErasureDue }) { _ = await erase() }
        return sessions
    }

    private func expire(
        _ table: String,
        _ key: String,
        at time: UInt64
    ) async throws(IdentityStoreError) -> Int {
        let batch = "SELECT \(key) FROM \(table) WHERE expires <= ? LIMIT \(Self.expiryBatch)"
        var total = 0
        while true {
            let count = try await write { database in
                try database.run("DELETE FROM \(table) WHERE \(key) IN (\(batch))", time)
                return database.changesCount
            }
            total += count
            if count < Self.expiryBatch { return total }
        }
    }

    /// Writes a consistent copy of the state to a new file with the mode 0600, while the server runs; durable on return.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``; there is no copy then. An existing file is refused.
    package func backUp(to path: String) async throws(IdentityStoreError) {
        upkeep.withLock { $0.copies += 1 }
        let outcome: Result<Void, StorageError>
        do {
            outcome = .success(try await database.backUp(to: path))
        } catch {
            outcome = .failure(error)
        }
        let isErasureDue = upkeep.withLock { upkeep in
            upkeep.copies -= 1
            return upkeep.isErasureDue && upkeep.copies == 0
        }
        if isErasureDue { _ = await erase() }
        do { try outcome.get() } catch { throw .storage(error) }
    }

    /// Tests after a failed write whether the disk takes writes again; returns the failure that remains.
    @discardableResult
    package func checkWriting() async -> StorageError? { await database.checkWritingOnThread() }

    /// Reads the whole state to find damage.
    ///
    /// - Throws: ``StorageError/corrupted(path:detail:)`` with the first damage.
    package func verify() throws(StorageError) { try database.verify() }

    /// Empties the log after a deletion; returns whether it is empty.
    func erase() async -> Bool {
        let isBusy = upkeep.withLock { upkeep in
            upkeep.isErasureDue = upkeep.copies > 0
            return upkeep.isErasureDue
        }
        guard !isBusy else { return false }
        do {
            try await database.emptyLog()
            return true
        } catch {
            upkeep.withLock { $0.isErasureDue = true }
            return false
        }
    }
}
