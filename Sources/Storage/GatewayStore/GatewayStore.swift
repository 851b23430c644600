internal import Concurrency
package import Database
internal import GRDB
package import Identity
package import Platform

/// The spent tokens and the leases of a gateway.
///
/// Each method is one transaction. Methods that write share transactions with concurrent ones and return once the write is
/// durable. None waits for the disk on a thread of the runtime. Times are whole seconds since 1970.
package struct GatewayStore: Sendable {
    /// The kind of file of a gateway's state; the application id is "RUGW".
    package static let format = DatabaseFormat(
        applicationId: 0x5255_4757,
        schema: .gateway,
        checksWholeFile: false,
        erasesDeleted: true
    )

    /// The most leases.
    package let leaseLimit: Int
    let database: StateDatabase
    /// Whether the log may contain rows of leases that have ended, as it may after the death of a process.
    let isErasureDue = Locked(true)

    /// Opens the state at `path`, making it if it does not exist, and empties its log.
    ///
    /// - Throws: ``StorageError``; a file that is foreign, lost or newer is left as it is.
    package init(
        path: String,
        leaseLimit: Int = LeaseSlot.limit,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(StorageError) {
        self.leaseLimit = min(leaseLimit, LeaseSlot.limit)
        database = try StateDatabase(path: path, format: Self.format, fileSystem: fileSystem)
        try database.checkpoint()
    }

    /// Makes an empty state in memory, for tests.
    package init(leaseLimit: Int = LeaseSlot.limit) throws(StorageError) {
        self.leaseLimit = min(leaseLimit, LeaseSlot.limit)
        database = try StateDatabase(format: Self.format)
    }

    /// Ends the use of the state after the writes that are under way; every later call fails.
    ///
    /// - Throws: ``StorageError``.
    package func close() throws(StorageError) { try database.close() }

    /// The numbers of writes and commits since the state was opened.
    package var groupCommits: GroupCommits { database.groupCommits }

    /// Tests after a failed write whether the disk takes writes again; returns the failure that remains.
    @discardableResult
    package func checkWriting() async -> StorageError? { await database.checkWritingOnThread() }

    /// Removes what is left in the log of leases that have ended; returns whether the log is empty.
    ///
    /// A reader of another process delays it; call it again later then.
    @discardableResult
    package func erase() async -> Bool {
        guard isErasureDue.withLock({ $0 }) else { return true }
        isErasureDue.withLock { $0 = false }
        do {
            try await database.emptyLog()
            return true
        } catch {
            isErasureDue.withLock { $0 = true }
            return false
        }
    }

    /// Writes in one transaction with other tasks.
    func write<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(GatewayStoreError) -> Success {
        let outcome: Result<Success, GatewayStoreError>
        do {
            outcome = try await database.writeGrouped(refusing: GatewayStoreError.self, body)
        } catch {
            throw .storage(error)
        }
        return try outcome.get()
    }

    func read<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(GatewayStoreError) -> Success {
        do {
            return try await database.readConcurrently(body)
        } catch {
            throw .storage(error)
        }
    }
}

extension GatewayStore: SpentSet {
    package func spend(_ token: Bytes32, epoch: UInt64) async throws(GatewayStoreError) -> SpendOutcome {
        try await write { try Self.spend(token, epoch: epoch, $0) }
    }

    package func endEpochs(before epoch: UInt64) async throws(GatewayStoreError) {
        try await write { database in
            try database.run("UPDATE state SET first_epoch = ? WHERE first_epoch < ?", epoch, epoch)
        }
        while true {
            // Of a busy epoch, in parts, so that redemptions have their turn.
            let count = try await write { database in
                try database.run(
                    "DELETE FROM spent_tokens WHERE (epoch, token) IN "
                        + "(SELECT epoch, token FROM spent_tokens WHERE epoch < ? LIMIT \(Self.removalBatch))",
                    epoch
                )
                return database.changesCount
            }
            if count < Self.removalBatch { return }
        }
    }

    /// The number of spent tokens that are kept.
    ///
    /// - Throws: ``GatewayStoreError/storage(_:)``.
    package func spentCount() async throws(GatewayStoreError) -> UInt64 {
        try await read { try $0.value("SELECT count(*) FROM spent_tokens") ?? 0 }
    }

    /// The most rows that one transaction removes.
    private static let removalBatch = 1_000

    /// - Throws: ``GatewayStoreError/epochEnded(_:)``.
    static func spend(_ token: Bytes32, epoch: UInt64, _ database: Database) throws -> SpendOutcome {
        let first = try database.value("SELECT first_epoch FROM state", as: UInt64.self) ?? 0
        guard epoch >= first else { throw GatewayStoreError.epochEnded(epoch) }
        try database.run("INSERT OR IGNORE INTO spent_tokens VALUES (?, ?)", epoch, token)
        return database.changesCount > 0 ? .first : .already
    }
}
