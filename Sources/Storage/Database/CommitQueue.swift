internal import Concurrency
internal import GRDB

/// The writes that wait for a common transaction, in the order of their arrival.
///
/// One transaction, and so one synchronization of the disk, serves all writes of a batch. Each write has a savepoint of its
/// own, so a refused one undoes its own changes only. The first write of an idle queue starts a batch at once; writes that
/// arrive before its commit form the next one. The queue has no thread: its owner calls
/// ``commitBatch(_:recording:)`` on one, again as long as batches remain.
final class CommitQueue: Sendable {
    /// The largest number of writes in a transaction, which bounds the wait for its commit.
    static let batchLimit = 256
    /// The largest number of writes that wait: several seconds of work for a slow disk.
    static let limit = 4_096

    private struct State {
        var waiting: [any QueuedWrite] = []
        /// Whether a call of ``commitBatch(_:recording:)`` is due or runs.
        var isStarted = false
        var isPerforming = false
        var isClosed = false
        var counts = GroupCommits()
    }

    private let path: String
    private let state = Locked(State())

    init(path: String) { self.path = path }

    /// The numbers of writes and commits since the database was opened.
    var counts: GroupCommits { state.withLock { $0.counts } }

    /// The number of writes that wait for a batch.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether a batch is being committed.
    var isPerforming: Bool { state.withLock { $0.isPerforming } }

    /// Adds a write; returns whether the caller must start a batch.
    ///
    /// - Throws: ``StorageError/overloaded(path:)``; ``StorageError/failed(path:detail:)`` after ``close()``.
    func add(_ write: some QueuedWrite) throws(StorageError) -> Bool {
        let path = path
        return try state.withLock { state throws(StorageError) in
            guard !state.isClosed else { throw .failed(path: path, detail: "the database is closed") }
            guard state.waiting.count < Self.limit else { throw .overloaded(path: path) }
            state.waiting.append(write)
            defer { state.isStarted = true }
            return !state.isStarted
        }
    }

    /// Refuses further writes; those that wait are still committed.
    func close() { state.withLock { $0.isClosed = true } }

    /// Commits the writes that wait, at most ``batchLimit``, and wakes their callers; returns whether others wait, which the
    /// caller must commit too.
    ///
    /// `database` is in no transaction. `record` receives the failure of the transaction, or of one of its writes, before
    /// any caller wakes.
    func commitBatch(_ database: Database, recording record: (StorageError?) -> Void) -> Bool {
        let batch = state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.batchLimit))
            state.waiting.removeFirst(batch.count)
            state.isPerforming = !batch.isEmpty
            if batch.isEmpty { state.isStarted = false }
            return batch
        }
        guard !batch.isEmpty else { return false }
        var refused: StorageError?
        var failure: StorageError?
        do {
            try database.inTransaction(.immediate) {
                for write in batch {
                    if let error = try perform(write, database) { refused = error }
                }
                return .commit
            }
        } catch {
            failure = StoreFailure.translate(error, path: path)
        }
        let isMore = state.withLock { state in
            state.counts.writes += batch.count
            state.counts.commits += failure == nil ? 1 : 0
            state.isPerforming = false
            state.isStarted = !state.waiting.isEmpty
            return state.isStarted
        }
        record(failure ?? refused)
        for write in batch { write.finish(failure) }
        return isMore
    }

    /// Performs a write in its savepoint; returns the failure of the disk or the file that concerns this write only.
    ///
    /// - Throws: The failure with which SQLite rolled back the whole transaction.
    private func perform(_ write: any QueuedWrite, _ database: Database) throws -> StorageError? {
        var failure: StorageError?
        do {
            try database.inSavepoint {
                switch write.run(database) {
                case .keep: return .commit
                case .undo(let error):
                    failure = error
                    return .rollback
                }
            }
        } catch {
            throw failure ?? error
        }
        guard database.isInsideTransaction else {
            throw failure ?? .failed(path: path, detail: "a write ended the transaction of its batch")
        }
        if case .invalid = failure { return nil }
        return failure
    }
}

/// The numbers of writes and commits of a queue.
package struct GroupCommits: Hashable, Sendable {
    /// The writes, including refused ones.
    package var writes = 0
    /// The transactions that were committed.
    package var commits = 0
}

/// A write of any result in the queue.
protocol QueuedWrite: Sendable {
    /// Changes the database within a savepoint.
    func run(_ database: Database) -> QueuedVerdict

    /// Wakes the caller after the end of the transaction; `failure` is the transaction's.
    func finish(_ failure: StorageError?)
}

/// The decision on the changes of a write.
enum QueuedVerdict {
    case keep
    /// With the failure of the disk or the file, if it is one.
    case undo(StorageError?)
}

/// A write whose caller waits for its result.
final class PendingWrite<Success: Sendable, Refusal: Error>: QueuedWrite {
    typealias Outcome = Result<Result<Success, Refusal>, StorageError>

    private let path: String
    private let body: @Sendable (Database) throws -> Success
    private let outcome = Locked<Outcome?>(nil)
    private let end = Promise<Outcome>()

    init(path: String, body: @escaping @Sendable (Database) throws -> Success) {
        self.path = path
        self.body = body
    }

    /// Waits until the transaction has ended, even if the task is cancelled, because the write may have happened.
    func wait() async throws(StorageError) -> Result<Success, Refusal> {
        try await end.waitIgnoringCancellation().get()
    }

    func run(_ database: Database) -> QueuedVerdict {
        do {
            let success = try body(database)
            outcome.withLock { $0 = .success(.success(success)) }
            return .keep
        } catch let refusal as Refusal {
            outcome.withLock { $0 = .success(.failure(refusal)) }
            return .undo(nil)
        } catch {
            let failure = StoreFailure.translate(error, path: path)
            outcome.withLock { $0 = .failure(failure) }
            return .undo(failure)
        }
    }

    func finish(_ failure: StorageError?) {
        // A decision was made on a state with the changes of earlier writes, which a failure of the commit undoes.
        let own = outcome.withLock { $0 }
        let missing = StorageError.failed(path: path, detail: "a write of a batch was not performed")
        end.fulfil(failure.map { .failure($0) } ?? own ?? .failure(missing))
    }
}
