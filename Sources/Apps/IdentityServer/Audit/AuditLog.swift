internal import CommandModel
internal import Concurrency
internal import Identity
internal import Platform
internal import RegistrationModel

/// The file in which the server records changes of accounts and refusals: a JSON object on each line.
///
/// A full file replaces the one before it, so that the log takes at most twice ``fileByteLimit``. An entry is written before
/// the request is answered, and is not synchronized: a loss of power may cost the last entries, never an account.
final class AuditLog: Sendable {
    /// The size at which a new file begins, in bytes.
    static let fileByteLimit = 8 << 20
    /// The most characters of a detail.
    private static let detailLimit = 256

    private struct File {
        var descriptor: Int32?
        var byteCount = 0
        /// Whether the last entry could not be written.
        var hasFailed = false
    }

    private struct Line: Encodable {
        let time: UInt64
        let event: String
        let user: String?
        let address: String?
        let code: String?
        let detail: String?
    }

    private let path: String
    private let byteLimit: Int
    private let now: @Sendable () -> UInt64
    private let file = Locked(File())
    private let files = SystemFileSystem()

    /// Opens the log, which is made when it is missing.
    ///
    /// - Throws: ``FileError``.
    init(
        path: String,
        byteLimit: Int = AuditLog.fileByteLimit,
        now: @escaping @Sendable () -> UInt64
    ) throws(FileError) {
        self.path = path
        self.byteLimit = byteLimit
        self.now = now
        let opened = try open()
        file.withLock { $0 = opened }
    }

    deinit {
        if let descriptor = file.withLock({ $0.descriptor }) { files.close(descriptor) }
    }

    /// Whether the last entry could not be written.
    var hasFailed: Bool { file.withLock { $0.hasFailed } }

    /// Adds an entry.
    func record(_ event: AuditEvent) {
        let line = Line(
            time: now(),
            event: event.kind.rawValue,
            user: event.user?.description,
            address: event.address?.description,
            code: event.code,
            detail: event.detail.map { PlainText.line(of: String($0.prefix(Self.detailLimit))) }
        )
        let bytes = JSONText.bytes(line) + [UInt8(ascii: "\n")]
        file.withLock { file in
            do throws(FileError) {
                if file.descriptor == nil { file = try open() }
                if file.byteCount + bytes.count > byteLimit { file = try replace(&file) }
                guard let descriptor = file.descriptor else { preconditionFailure("a file that was opened is closed") }
                // One call for each line: a reader never sees half of one.
                let count = try files.write(bytes[...], to: descriptor, path: path)
                file.byteCount += count
                file.hasFailed = count < bytes.count
            } catch {
                file.hasFailed = true
            }
        }
    }

    private func open() throws(FileError) -> File {
        let descriptor = try files.open(path, for: .appending)
        do {
            let byteCount = try files.status(of: path, followingLink: false)?.byteCount ?? 0
            return File(descriptor: descriptor, byteCount: byteCount)
        } catch {
            files.close(descriptor)
            throw error
        }
    }

    /// Begins another file.
    ///
    /// A failure leaves the log closed: the next entry opens it, and finds its size again.
    private func replace(_ file: inout File) throws(FileError) -> File {
        if let descriptor = file.descriptor { files.close(descriptor) }
        file = File()
        try files.rename(path, to: path + ".1")
        return try open()
    }
}
