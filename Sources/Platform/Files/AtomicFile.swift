/// Replaces whole files so that a reader, also after a crash or a loss of power, finds the old bytes or the new ones.
///
/// The bytes go to a temporary file beside the real one, which is synchronized and renamed; then the directory is
/// synchronized. Temporary files that a dead process left have names of their own kind and are removed with
/// ``removeLeftovers(of:fileSystem:)``.
package enum AtomicFile {
    /// Writes `bytes` to `path` and returns once they are durable.
    ///
    /// After an error the file holds either the old or the new bytes.
    ///
    /// - Throws: ``FileError`` of the call that failed.
    package static func write(
        _ bytes: [UInt8],
        to path: String,
        mode: UInt32 = 0o600,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(FileError) {
        let temporary = temporaryPath(for: path)
        let descriptor = try fileSystem.open(temporary, for: .creating)
        do {
            try fill(descriptor, with: bytes, mode: mode, path: temporary, fileSystem: fileSystem)
            fileSystem.close(descriptor)
        } catch {
            fileSystem.close(descriptor)
            discard(temporary, fileSystem: fileSystem)
            throw error
        }
        do {
            try fileSystem.rename(temporary, to: path)
        } catch {
            discard(temporary, fileSystem: fileSystem)
            throw error
        }
        try fileSystem.synchronizeDirectory(FilePath.directory(of: path))
    }

    /// Reads a whole file of at most `limit` bytes, or returns nil if there is none.
    ///
    /// - Throws: ``FileError``; with the code of "file too large" when there are more bytes than `limit`.
    package static func read(
        _ path: String,
        limit: Int,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(FileError) -> [UInt8]? {
        let descriptor: Int32
        do {
            descriptor = try fileSystem.open(path, for: .reading)
        } catch let error where error.code == SystemErrors.notFound {
            return nil
        }
        defer { fileSystem.close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let chunk = try fileSystem.read(descriptor, count: min(limit + 1 - bytes.count, 1 << 16), path: path)
            if chunk.isEmpty { return bytes }
            bytes += chunk
            guard bytes.count <= limit else {
                throw FileError(operation: "read", path: path, code: SystemErrors.tooLarge)
            }
        }
    }

    /// Removes what a writer that died left beside `path`.
    ///
    /// Call it only while no other process can be writing.
    ///
    /// - Throws: ``FileError`` if the directory cannot be listed or a leftover cannot be removed.
    package static func removeLeftovers(
        of path: String,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(FileError) {
        let directory = FilePath.directory(of: path)
        let prefix = temporaryPrefix(for: path)
        for name in try fileSystem.names(in: directory) where name.hasPrefix(prefix) {
            try fileSystem.remove(FilePath.joining(directory, name))
        }
    }

    private static func fill(
        _ descriptor: Int32,
        with bytes: [UInt8],
        mode: UInt32,
        path: String,
        fileSystem: some FileSystem
    ) throws(FileError) {
        try fileSystem.setMode(mode, of: descriptor, path: path)
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try fileSystem.write(rest, to: descriptor, path: path))
        }
        try fileSystem.synchronize(descriptor, path: path)
    }

    private static func discard(_ path: String, fileSystem: some FileSystem) {
        try? fileSystem.remove(path)  // The first error is the one that counts; leftovers are removed at the next open.
    }

    private static func temporaryPrefix(for path: String) -> String {
        ".\(FilePath.name(of: path)).writing-"
    }

    private static func temporaryPath(for path: String) -> String {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        return FilePath.joining(FilePath.directory(of: path), temporaryPrefix(for: path) + suffix)
    }
}
