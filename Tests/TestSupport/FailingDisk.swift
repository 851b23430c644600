internal import CFailingDisk

/// A disk for the SQLite database in one directory, which can be full, fail, or lose power at any write.
///
/// `Tests/Helpers/CFailingDisk` describes the model.
@safe package final class FailingDisk: @unchecked Sendable {
    /// The writes that survive a loss of power, of those that were not synchronized.
    package enum Survivors: CaseIterable, Sendable {
        case none
        case half
        case all
    }

    /// A fault at one point; operations are counted from 0.
    package enum Fault: Sendable {
        /// The files grow by this number of bytes and no further.
        case full(afterBytes: Int)
        /// The operation has no effect and fails; later ones work.
        case failure(at: Int)
        /// The operation still has its effect, then the power is lost.
        case powerLoss(after: Int, Survivors)
    }

    /// The disk could not be made, or its files not rewritten.
    package struct Failure: Error {}

    private let disk: OpaquePointer

    /// Makes the disk of a directory; its files are safe at this moment.
    package init(of directory: TemporaryDirectory) throws {
        guard let disk = unsafe failing_disk_create(directory.path) else { throw Failure() }
        unsafe self.disk = disk
    }

    deinit { unsafe failing_disk_destroy(disk) }

    /// Injects a fault from now on.
    package func arm(_ fault: Fault) {
        heal()
        switch fault {
        case .full(let bytes): unsafe failing_disk_fill(disk, Int64(bytes))
        case .failure(let operation): unsafe failing_disk_fail(disk, operation)
        case .powerLoss(let operation, _): unsafe failing_disk_lose_power(disk, operation)
        }
    }

    /// Removes all faults.
    package func heal() { unsafe failing_disk_heal(disk) }

    /// Whether the fault happened.
    package var hasFailed: Bool { unsafe failing_disk_has_failed(disk) }

    /// Restores the power; all files must be closed.
    package func restore(_ survivors: Survivors) throws {
        let kept =
            switch survivors {
            case .none: FAILING_DISK_NONE
            case .half: FAILING_DISK_HALF
            case .all: FAILING_DISK_ALL
            }
        guard unsafe failing_disk_restore(disk, kept) else { throw Failure() }
    }
}

/// Walks one write over every point of a failing disk: full after a number of bytes, failing, and losing power.
package struct FailingDiskWalk<Store> {
    /// A write did not succeed although the disk works again.
    package struct StaysBroken: Error {
        let fault: FailingDisk.Fault
    }

    /// The growth of the write-ahead log with each page.
    private static var pageBytes: Int { 4_096 + 24 }

    private let open: (TemporaryDirectory) async throws -> Store
    private let write: (Store) async -> Bool
    private let close: (Store) async -> Void
    private let check: (TemporaryDirectory, _ isAcknowledged: Bool, _ fault: FailingDisk.Fault) async throws -> Void

    /// Makes a walk.
    ///
    /// `write` returns whether the write was acknowledged, and `check` expects the state to be right in a directory whose
    /// store was closed.
    package init(
        open: @escaping (TemporaryDirectory) async throws -> Store,
        write: @escaping (Store) async -> Bool,
        close: @escaping (Store) async -> Void,
        check: @escaping (TemporaryDirectory, _ isAcknowledged: Bool, _ fault: FailingDisk.Fault) async throws -> Void
    ) {
        self.open = open
        self.write = write
        self.close = close
        self.check = check
    }

    /// Makes a walk of a write that throws if it is not acknowledged.
    package init(
        open: @escaping (TemporaryDirectory) async throws -> Store,
        attempting write: @escaping (Store) async throws -> Void,
        close: @escaping (Store) async -> Void,
        check: @escaping (TemporaryDirectory, _ isAcknowledged: Bool, _ fault: FailingDisk.Fault) async throws -> Void
    ) {
        self.init(
            open: open,
            write: { store in
                do {
                    try await write(store)
                    return true
                } catch {
                    return false
                }
            },
            close: close,
            check: check
        )
    }

    /// Performs the write once for each point, each time in a copy of a directory; returns the number of points.
    ///
    /// A thorough walk takes every point, with all kinds of survivors of a loss of power. Any other takes every third one,
    /// with one kind of survivors at each, because a point costs several databases.
    package func run(in template: TemporaryDirectory, isThorough: Bool = LongTests.areRun) async throws -> Int {
        var count = 0
        let kinds = FailingDisk.Survivors.allCases
        guard isThorough else {
            count += try await walk(in: template, from: 0, by: 3) { .full(afterBytes: $0 * Self.pageBytes) }
            count += try await walk(in: template, from: 1, by: 3) { .failure(at: $0) }
            count += try await walk(in: template, from: 2, by: 3) { .powerLoss(after: $0, kinds[$0 / 3 % kinds.count]) }
            return count
        }
        count += try await walk(in: template) { .full(afterBytes: $0 * Self.pageBytes) }
        count += try await walk(in: template) { .failure(at: $0) }
        for survivors in kinds {
            count += try await walk(in: template) { .powerLoss(after: $0, survivors) }
        }
        return count
    }

    private func walk(
        in template: TemporaryDirectory,
        from first: Int = 0,
        by step: Int = 1,
        _ fault: (Int) -> FailingDisk.Fault
    ) async throws -> Int {
        var (point, count) = (first, 0)
        while try await meet(fault(point), in: template) {
            point += step
            count += 1
        }
        return count
    }

    /// Performs the write with a fault; returns whether the fault happened.
    private func meet(_ fault: FailingDisk.Fault, in template: TemporaryDirectory) async throws -> Bool {
        let directory = try TemporaryDirectory()
        for name in try template.names() { try directory.write(template.bytes(name), to: name) }
        let disk = try FailingDisk(of: directory)
        let store = try await open(directory)
        disk.arm(fault)
        var isAcknowledged = await write(store)
        let hasFailed = disk.hasFailed
        switch fault {
        case .full, .failure:
            disk.heal()
            if !isAcknowledged {
                guard await write(store) else { throw StaysBroken(fault: fault) }
                isAcknowledged = true
            }
            await close(store)
        case .powerLoss(_, let survivors):
            await close(store)
            try disk.restore(survivors)
        }
        try await check(directory, isAcknowledged, fault)
        return hasFailed
    }
}
