internal import Concurrency
package import GRDB
internal import Platform

/// Access from tasks, which must not wait for the disk on a thread of the runtime.
extension StateDatabase {
    /// Writes all or nothing, in one transaction with the writes of other tasks; durable on return.
    ///
    /// Writes happen in the order of the calls. `body` must not use deferred constraints, which fail at the commit and so for
    /// all writes of the transaction. A cancelled task waits for the outcome as well.
    ///
    /// - Returns: The failure of type `Refusal` that `body` threw; then nothing was changed, and other writes are unaffected.
    /// - Throws: ``StorageError``; then nothing was changed. ``StorageError/overloaded(path:)`` if too many writes wait.
    package func writeGrouped<Success: Sendable, Refusal: Error>(
        refusing: Refusal.Type = Never.self,
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(StorageError) -> Result<Success, Refusal> {
        let write = PendingWrite<Success, Refusal>(path: path, body: body)
        if try commits.add(write) { startBatches() }
        return try await write.wait()
    }

    /// The numbers of writes and commits of ``writeGrouped(refusing:_:)`` since the database was opened.
    package var groupCommits: GroupCommits { commits.counts }

    /// Commits the writes that wait on a thread; other writers of the process have their turn between batches.
    private func startBatches() {
        // The queue asks for a further job only after the end of the last one, so this one is never refused.
        _ = writers.run { [self] in
            while database.writeWithoutTransaction({ commits.commitBatch($0, recording: record) }) {}
        }
    }

    /// Reads a consistent state, which includes every write whose method has returned.
    ///
    /// - Throws: ``StorageError``; ``StorageError/overloaded(path:)`` if too many reads wait.
    package func readConcurrently<Success: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Success
    ) async throws(StorageError) -> Success {
        let end = Promise<Result<Success, StorageError>>()
        let isAccepted = readers.run { [self] in
            do throws(StorageError) {
                end.fulfil(.success(try read(body)))
            } catch {
                end.fulfil(.failure(error))
            }
        }
        guard isAccepted else { throw .overloaded(path: path) }
        return try await end.waitIgnoringCancellation().get()
    }

    /// Brings everything from the log into the one file and empties the log.
    ///
    /// After a deletion in a database whose format erases deleted rows, no file of it contains them.
    ///
    /// - Throws: ``StorageError``; ``StorageError/busy(path:)`` while a reader uses an older state, and then the log has the
    ///   rest.
    package func emptyLog() async throws(StorageError) {
        try await onThread { [database] _ in
            try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        }
    }

    /// Writes a consistent copy of the database, with the mode 0600, while others read and write; durable on return.
    ///
    /// - Throws: ``StorageError``; there is no copy then. ``StorageError/file(_:)`` if a file exists at `copy`.
    package func backUp(to copy: String) async throws(StorageError) {
        try await onThread { path in
            try StoreFile.backUp(path, to: copy, fileSystem: SystemFileSystem())
        }
    }

    /// Reads the whole database to find damage.
    ///
    /// - Throws: ``StorageError/corrupted(path:detail:)`` with the first damage.
    package func verify() throws(StorageError) {
        try read { try StoreFile.verify($0, path: path) }
    }

    /// Tests after a failed write whether the disk takes writes again; returns the failure that remains.
    package func checkWritingOnThread() async -> StorageError? {
        guard writeFailure != nil else { return nil }
        do throws(StorageError) {
            try await onThread { [self] _ in if let failure = checkWriting() { throw failure } }
            return nil
        } catch {
            return error
        }
    }

    private func onThread(_ body: @escaping @Sendable (String) throws -> Void) async throws(StorageError) {
        let end = Promise<Result<Void, StorageError>>()
        let status = SystemThread.start { [path] in
            do {
                end.fulfil(.success(try body(path)))
            } catch let error as FileError {
                end.fulfil(.failure(.file(error)))
            } catch {
                end.fulfil(.failure(StoreFailure.translate(error, path: path)))
            }
        }
        guard status == 0 else { throw .failed(path: path, detail: "the system refused a thread (error \(status))") }
        try await end.waitIgnoringCancellation().get()
    }
}
