package import Database
internal import GRDB
package import Identity
package import Platform

/// The numbers of tokens that a token issuer has issued, by entitlement and epoch.
///
/// It stores nothing else: no voucher, no token, no address and no time. ``take(_:of:for:in:)`` shares transactions with
/// concurrent calls and returns once the count is durable, so no crash issues a token that was not counted. No method waits
/// for the disk on a thread of the runtime.
package struct IssuerStore: Sendable {
    /// The kind of file of an issuer's counts.
    ///
    /// The application id is "RUIS". Deleted rows are overwritten: the file must not contain counts of past epochs.
    package static let format = DatabaseFormat(
        applicationId: 0x5255_4953,
        schema: .issuances,
        checksWholeFile: false,
        erasesDeleted: true
    )
    /// The most rows that one transaction of ``removeEpochs(before:)`` deletes.
    static let removalBatch = 1_000

    let database: StateDatabase

    /// Opens the counts at `path`, making the file if it does not exist, and empties its log.
    ///
    /// - Throws: ``StorageError``; a file that is foreign, lost or newer is left as it is.
    package init(path: String, fileSystem: some FileSystem = SystemFileSystem()) throws(StorageError) {
        database = try StateDatabase(path: path, format: Self.format, fileSystem: fileSystem)
        try database.checkpoint()
    }

    /// Makes empty counts in memory, for tests.
    package init() throws(StorageError) {
        database = try StateDatabase(format: Self.format)
    }

    /// Ends the use of the counts after the writes in progress; every later call fails.
    ///
    /// - Throws: ``StorageError``.
    package func close() throws(StorageError) { try database.close() }

    /// The failure of the last write; nil if it succeeded.
    package var writeFailure: StorageError? { database.writeFailure }

    /// The numbers of writes and commits since the counts were opened.
    package var groupCommits: GroupCommits { database.groupCommits }

    /// Tests after a failed write whether the disk takes writes again; returns the failure that remains.
    @discardableResult
    package func checkWriting() async -> StorageError? { await database.checkWritingOnThread() }

    /// Takes `count` tokens of an entitlement's `allowance` in an epoch, all or none; returns the number that remains.
    ///
    /// Concurrent calls never take more than the allowance together. An allowance below the number that was taken already
    /// has nothing left. `count` is positive.
    ///
    /// - Throws: ``IssuerStoreError``; nothing was taken then.
    @discardableResult
    package func take(
        _ count: Int,
        of allowance: Int,
        for entitlement: Bytes32,
        in epoch: UInt64
    ) async throws(IssuerStoreError) -> Int {
        precondition(count > 0, "\(count) tokens were requested")
        return try await write { database in
            let query = "SELECT count FROM issuances WHERE epoch = ? AND entitlement = ?"
            let used = try database.value(query, epoch, entitlement, as: Int.self) ?? 0
            let remaining = max(0, allowance - used)
            guard count <= remaining else { throw IssuerStoreError.allowanceUsed(remaining: remaining) }
            try database.run(
                """
                INSERT INTO issuances (epoch, entitlement, count) VALUES (?, ?, ?)
                ON CONFLICT (epoch, entitlement) DO UPDATE SET count = count + excluded.count
                """,
                epoch,
                entitlement,
                count
            )
            return remaining - count
        }
    }

    /// Deletes the counts of the epochs before `epoch`, and overwrites them in the file; returns their number.
    ///
    /// - Throws: ``IssuerStoreError/storage(_:)``; some may be deleted then.
    @discardableResult
    package func removeEpochs(before epoch: UInt64) async throws(IssuerStoreError) -> Int {
        let batch = "SELECT epoch, entitlement FROM issuances WHERE epoch < ? LIMIT \(Self.removalBatch)"
        var total = 0
        while true {
            let count = try await write { database in
                try database.run("DELETE FROM issuances WHERE (epoch, entitlement) IN (\(batch))", epoch)
                return database.changesCount
            }
            total += count
            if count < Self.removalBatch { break }
        }
        // Each time: a reader may have delayed the last attempt, which failed after the rows were deleted.
        do {
            try await database.emptyLog()
        } catch {
            throw .storage(error)
        }
        return total
    }

    /// Writes in one transaction with other tasks.
    private func write<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(IssuerStoreError) -> Success {
        let outcome: Result<Success, IssuerStoreError>
        do {
            outcome = try await database.writeGrouped(refusing: IssuerStoreError.self, body)
        } catch {
            throw .storage(error)
        }
        return try outcome.get()
    }
}
