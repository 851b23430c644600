internal import Concurrency
package import Database
internal import GRDB
package import Platform

/// The accounts of an identity server, with their passkeys and sessions.
///
/// Each method is one transaction. Methods that write share transactions with concurrent ones and return once the write is
/// durable. Methods that only read see every write whose method has returned. None waits for the disk on a thread of the
/// runtime. Times are whole seconds since 1970.
package struct IdentityStore: Sendable {
    /// The kind of file of an identity server's state.
    ///
    /// The application id is "RUID". The whole check would delay the start of a server with a million accounts, so it is
    /// ``verify()``.
    package static let format = DatabaseFormat(
        applicationId: 0x5255_4944,
        schema: .identities,
        checksWholeFile: false,
        erasesDeleted: true
    )
    /// The most passkeys of an account.
    package static let credentialLimit = 32
    /// The most sessions of an account; a further one ends the session that was renewed least recently.
    package static let sessionLimit = 64

    let database: StateDatabase
    let upkeep = Locked(Upkeep())

    /// Opens the state at `path`, making it if it does not exist, and empties its log.
    ///
    /// A process that died between a deletion and the end of its erasure left rows in the log. While another process reads,
    /// they stay there until ``expire(at:)``.
    ///
    /// - Throws: ``StorageError``; a file that is foreign, lost or newer is left as it is.
    package init(path: String, fileSystem: some FileSystem = SystemFileSystem()) throws(StorageError) {
        database = try StateDatabase(path: path, format: Self.format, fileSystem: fileSystem)
        try database.checkpoint()
    }

    /// Makes an empty state in memory, for tests.
    package init() throws(StorageError) {
        database = try StateDatabase(format: Self.format)
    }

    /// Ends the use of the state after the writes that are under way; every later call fails.
    ///
    /// - Throws: ``StorageError``.
    package func close() throws(StorageError) { try database.close() }

    /// The failure of the last write; nil if it succeeded.
    package var writeFailure: StorageError? { database.writeFailure }

    /// The numbers of writes and commits since the state was opened.
    package var groupCommits: GroupCommits { database.groupCommits }

    /// Writes in one transaction with other tasks.
    func write<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(IdentityStoreError) -> Success {
        let outcome: Result<Success, IdentityStoreError>
        do {
            outcome = try await database.writeGrouped(refusing: IdentityStoreError.self, body)
        } catch {
            throw .storage(error)
        }
        return try outcome.get()
    }

    func read<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(IdentityStoreError) -> Success {
        do {
            return try await database.readConcurrently(body)
        } catch {
            throw .storage(error)
        }
    }
}
