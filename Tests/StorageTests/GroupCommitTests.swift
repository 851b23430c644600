internal import Foundation
internal import GRDB
internal import TestSupport
internal import Testing

@testable internal import Database

/// Writes of concurrent tasks that share a transaction.
@Suite("Group commit", .timeLimit(.minutes(5))) struct GroupCommitTests {
    private struct Refused: Error, Equatable {
        let number: Int
    }

    private static let format = DatabaseFormat(
        applicationId: 1,
        schema: Schema(
            name: "numbers",
            steps: [.init(1, sql: "CREATE TABLE numbers (place INTEGER PRIMARY KEY, number INTEGER UNIQUE) STRICT")]
        )
    )

    private static func open(_ directory: TemporaryDirectory) throws -> StateDatabase {
        try StateDatabase(path: directory.file("numbers.sqlite"), format: format)
    }

    @Sendable private static func insert(_ number: Int, _ database: Database) throws {
        try database.run("INSERT INTO numbers (number) VALUES (?)", number)
    }

    private static func numbers(in database: StateDatabase) throws -> [Int] {
        try database.read { try $0.values("SELECT number FROM numbers ORDER BY place") }
    }

    private static func commitAll(_ queue: CommitQueue, _ database: StateDatabase) {
        database.database.writeWithoutTransaction { while queue.commitBatch($0, recording: { _ in }) {} }
    }

    /// Runs `body` while a write keeps the queue busy until `count` others wait.
    private static func holding<R: Sendable>(
        _ database: StateDatabase,
        until count: Int,
        _ body: () async throws -> R
    ) async throws -> R {
        let gate = DispatchSemaphore(value: 0)
        async let held = hold(database, gate)
        try await waitUntilHeld(database)
        async let opening: Void = {
            while database.commits.waitingCount < count { await Task.yield() }
            gate.signal()
        }()
        let result = try await body()
        await opening
        try await held
        return result
    }

    /// Keeps the queue busy with a write until a signal.
    private static func hold(_ database: StateDatabase, _ gate: DispatchSemaphore) async throws {
        _ = try await database.writeGrouped { _ in gate.wait() }
    }

    /// Waits until a write is under way.
    private static func waitUntilHeld(_ database: StateDatabase) async throws {
        while !database.commits.isPerforming { await Task.yield() }
    }

    @Test func `writes that arrive during a commit share the next ones`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Self.open(directory)
        let count = CommitQueue.batchLimit + 44
        try await Self.holding(database, until: count) {
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    group.addTask { _ = try await database.writeGrouped { try Self.insert(number, $0) } }
                }
                try await group.waitForAll()
            }
        }
        #expect(database.groupCommits == GroupCommits(writes: count + 1, commits: 3))
        #expect(try Set(Self.numbers(in: database)) == Set(0..<count))
        try database.close()
        let again = try Self.open(directory)
        #expect(try Self.numbers(in: again).count == count)
        try again.close()
    }

    @Test func `a refused write undoes its own changes only, and its error reaches its caller`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Self.open(directory)
        let outcomes = try await Self.holding(database, until: 30) {
            try await withThrowingTaskGroup { group in
                for number in 0..<30 {
                    group.addTask {
                        let outcome = try await database.writeGrouped(refusing: Refused.self) { database in
                            try Self.insert(number, database)
                            if number % 3 == 0 { throw Refused(number: number) }
                            return number
                        }
                        return (number, outcome)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        for number in 0..<30 {
            let expected: Result<Int, Refused> = number % 3 == 0 ? .failure(Refused(number: number)) : .success(number)
            #expect(outcomes[number] == expected)
        }
        #expect(database.groupCommits.commits == 2)
        #expect(try Set(Self.numbers(in: database)) == Set((0..<30).filter { $0 % 3 != 0 }))
        #expect(database.writeFailure == nil)
        try database.close()
    }

    @Test func `a statement that the database refuses is the failure of its caller only`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Self.open(directory)
        let failures = try await Self.holding(database, until: 8) {
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        do throws(StorageError) {
                            _ = try await database.writeGrouped { try Self.insert(number / 2, $0) }
                            return nil as StorageError?
                        } catch {
                            return error
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        let refused = failures.compactMap(\.self)
        #expect(refused.count == 4)
        for failure in refused {
            guard case .invalid = failure else {
                Issue.record("\(failure)")
                continue
            }
        }
        #expect(try Set(Self.numbers(in: database)) == Set(0..<4) && database.writeFailure == nil)
        try database.close()
    }

    @Test func `a write that ends the transaction fails its batch`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Self.open(directory)
        let failures = try await Self.holding(database, until: 3) {
            try await withThrowingTaskGroup { group in
                for number in 0..<3 {
                    group.addTask {
                        do throws(StorageError) {
                            _ = try await database.writeGrouped { database in
                                try Self.insert(number, database)
                                if number == 1 { try database.execute(sql: "ROLLBACK") }
                            }
                            return false
                        } catch {
                            return true
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(failures == [true, true, true])
        #expect(try Self.numbers(in: database).isEmpty)
        _ = try await database.writeGrouped { try Self.insert(9, $0) }
        #expect(try Self.numbers(in: database) == [9])
        try database.close()
    }

    @Test func `writes happen in the order of the calls, and a full queue refuses more`() async throws {
        let queue = CommitQueue(path: "path")
        let writes = (0..<CommitQueue.limit).map { number in
            PendingWrite<Int, Never>(path: "path") { database in
                try Self.insert(number, database)
                return number
            }
        }
        for (number, write) in writes.enumerated() { #expect(try queue.add(write) == (number == 0)) }
        let more = PendingWrite<Void, Never>(path: "path") { _ in }
        #expect(throws: StorageError.overloaded(path: "path")) { try queue.add(more) }
        let database = try StateDatabase(format: Self.format)
        Self.commitAll(queue, database)
        #expect(try Self.numbers(in: database) == Array(0..<CommitQueue.limit))
        #expect(queue.counts.commits == CommitQueue.limit / CommitQueue.batchLimit)
        for (number, write) in writes.enumerated() { #expect(try await write.wait() == .success(number)) }
        // There is room again, and an idle queue must be started again.
        #expect(try queue.add(more))
    }

    @Test func `closing commits the writes that wait, and refuses later ones`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Self.open(directory)
        let gate = DispatchSemaphore(value: 0)
        let first = Task { try await Self.hold(database, gate) }
        try await Self.waitUntilHeld(database)
        let second = Task { try await database.writeGrouped { try Self.insert(1, $0) } }
        while database.commits.waitingCount < 1 { await Task.yield() }
        let closing = Task {
            gate.signal()
            try database.close()
        }
        try await closing.value
        try await first.value
        _ = try await second.value
        await #expect(throws: StorageError.self) { try await database.writeGrouped { try Self.insert(2, $0) } }
        await #expect(throws: StorageError.self) { try await database.readConcurrently { try Self.insert(2, $0) } }
        let again = try Self.open(directory)
        #expect(try Self.numbers(in: again) == [1])
        try again.close()
    }

    @Test func `a cancelled task has the outcome of its write`() async throws {
        let database = try StateDatabase(format: Self.format)
        try await Self.holding(database, until: 1) {
            let task = Task { try await database.writeGrouped { try Self.insert(5, $0) } }
            while database.commits.waitingCount < 1 { await Task.yield() }
            task.cancel()
            return task
        }.value.get()
        #expect(try await database.readConcurrently { try $0.values("SELECT number FROM numbers") } == [5])
    }

    @Test func `a failure of the disk fails every write of the batch, at every point`() async throws {
        let template = try TemporaryDirectory()
        try Self.open(template).close()
        var (point, failed) = (0, 0)
        while true {
            let directory = try TemporaryDirectory()
            for name in try template.names() { try directory.write(template.bytes(name), to: name) }
            let disk = try FailingDisk(of: directory)
            let database = try Self.open(directory)
            disk.arm(.failure(at: point))
            let acknowledged = try await Self.holding(database, until: 5) {
                await withTaskGroup { group in
                    for number in 0..<5 {
                        group.addTask {
                            do throws(StorageError) {
                                _ = try await database.writeGrouped { try Self.insert(number, $0) }
                                return true
                            } catch {
                                return false
                            }
                        }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
            }
            let hasFailed = disk.hasFailed
            #expect(acknowledged == 0 || acknowledged == 5)
            #expect((database.writeFailure == nil) == (acknowledged == 5))
            disk.heal()
            #expect(await database.checkWritingOnThread() == nil && database.writeFailure == nil)
            #expect(try Self.numbers(in: database).count == acknowledged)
            _ = try await database.writeGrouped { try Self.insert(9, $0) }
            #expect(database.writeFailure == nil)
            try database.close()
            let again = try Self.open(directory)
            #expect(try Self.numbers(in: again).count == acknowledged + 1)
            try again.close()
            guard hasFailed else { break }
            failed += acknowledged == 0 ? 1 : 0
            point += 1
        }
        #expect(failed >= 2 && point >= 3, "\(failed) of \(point)")
    }
}
