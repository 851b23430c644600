package import Platform

extension DataDirectory {
    /// Takes the lock of the directory for a program, which is named like "a gateway"; `remedy` frees the lock.
    ///
    /// - Throws: ``CommandFailure`` with `data-in-use` while another process holds it; ``DataDirectoryError``.
    package func lock(for owner: String, remedy: String = "stop it first") throws -> FileLock {
        do throws(DataDirectoryError) {
            return try lockForNode()
        } catch {
            guard case .inUse(let path, let process) = error else { throw error }
            let holder = owner + (process.map { ", process \($0)," } ?? "")
            throw CommandFailure("data-in-use", .tryAgain, "\(holder) uses \(path): \(remedy), or give another --data")
        }
    }
}
