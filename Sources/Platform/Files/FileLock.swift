/// An exclusive advisory lock on a separate file, held by one process and released by the system when that process ends in
/// any way.
///
/// The file contains the holder's process id for the error message of the next one, and is never removed: removing it would
/// let two processes lock two files of the same name.
package final class FileLock: Sendable {
    /// Why a lock was not taken.
    package enum Failure: Error, Hashable, Sendable {
        /// Another holder has it: the process with this id, or nil if that is unknown.
        case held(byProcess: Int32?)
        /// The lock file could not be used.
        case file(FileError)
    }

    /// The lock file.
    package let path: String
    private let descriptor: Int32
    private let fileSystem: any FileSystem

    /// Takes the lock without waiting.
    ///
    /// - Throws: ``Failure``.
    package init(path: String, fileSystem: some FileSystem = SystemFileSystem()) throws(Failure) {
        let descriptor: Int32
        var holder: [UInt8]?
        do {
            descriptor = try fileSystem.open(path, for: .locking)
        } catch {
            throw .file(error)
        }
        do {
            if try fileSystem.lock(descriptor, path: path) {
                // A fixed width, so that it covers whatever an earlier holder wrote.
                _ = try fileSystem.write(Self.line(for: SystemProcess.id)[...], to: descriptor, path: path)
            } else {
                holder = try fileSystem.read(descriptor, count: 16, path: path)
            }
        } catch {
            fileSystem.unlock(descriptor)
            fileSystem.close(descriptor)
            throw .file(error)
        }
        if let holder {
            fileSystem.close(descriptor)
            throw .held(byProcess: Self.processId(in: holder))
        }
        self.path = path
        self.descriptor = descriptor
        self.fileSystem = fileSystem
    }

    deinit {
        fileSystem.unlock(descriptor)
        fileSystem.close(descriptor)
    }

    private static let width = 10

    private static func line(for id: Int32) -> [UInt8] {
        let digits = String(id)
        return [UInt8](String(repeating: " ", count: max(0, width - digits.utf8.count)).utf8) + digits.utf8 + [0x0A]
    }

    private static func processId(in text: [UInt8]) -> Int32? {
        let digits = text.prefix(width).drop { $0 == UInt8(ascii: " ") }
        return Int32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }
}
