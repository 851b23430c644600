/// Replaces whole files so that a reader, also after a crash or a loss of power, finds the old bytes or the new ones.
///
/// The bytes are written to a temporary file in the same directory, which is synchronized and renamed; then the directory is
/// synchronized. Temporary files of a terminated process are recognised by their names and removed with
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
        let writer = try AtomicFileWriter(path, mode: mode, fileSystem: fileSystem)
        try writer.write(bytes)
        try writer.commit()
    }

    /// Reads a whole file of at most `limit` bytes, or returns nil if there is none.
    ///
    /// - Throws: ``FileError``; with the code of "file too large" when there are more bytes than `limit`.
    package static func read(
        _ path: String,
        limit: Int,
        fileSystem: some FileSystem = SystemFileSystem()
    ) throws(FileError) -> [UInt8]? {
        try read(path, for: .reading, limit: limit, fileSystem)
    }

    /// As ``read(_:limit:fileSystem:)``, for a file that a person names, which may be a link.
    ///
    /// - Throws: ``FileError``.
    package static func read(named path: String, limit: Int) throws(FileError) -> [UInt8]? {
        try read(path, for: .readingNamed, limit: limit, SystemFileSystem())
    }

    private static func read(
        _ path: String,
        for use: FileUse,
        limit: Int,
        _ fileSystem: some FileSystem
    ) throws(FileError) -> [UInt8]? {
        let descriptor: Int32
        do {
            descriptor = try fileSystem.open(path, for: use)
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

    /// Removes the temporary files for `path` of terminated writers.
    ///
    /// Call it only while no other process can write.
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

    private static func temporaryPrefix(for path: String) -> String {
        ".\(FilePath.name(of: path)).writing-"
    }

    /// Returns a new path for a temporary file in the directory of `path`.
    package static func temporaryPath(for path: String) -> String {
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        return FilePath.joining(FilePath.directory(of: path), temporaryPrefix(for: path) + suffix)
    }
}

/// Replaces a file piece by piece, with the promises of ``AtomicFile``.
///
/// Nothing is at the path before ``commit()``. A writer that is dropped before removes its temporary file.
package final class AtomicFileWriter<System: FileSystem> {
    private let path: String
    private let temporary: String
    private let descriptor: Int32
    private let fileSystem: System
    private let mode: UInt32
    private var isRenamed = false

    /// Makes the temporary file, at a path from ``AtomicFile/temporaryPath(for:)``.
    ///
    /// - Throws: ``FileError`` of the call that failed.
    package init(
        _ path: String,
        temporary chosen: String? = nil,
        mode: UInt32 = 0o600,
        fileSystem: System = SystemFileSystem()
    ) throws(FileError) {
        let temporary = chosen ?? AtomicFile.temporaryPath(for: path)
        let descriptor = try fileSystem.open(temporary, for: .creating)
        self.path = path
        self.fileSystem = fileSystem
        self.temporary = temporary
        self.descriptor = descriptor
        self.mode = mode
    }

    /// Appends `bytes`.
    ///
    /// - Throws: ``FileError`` of the call that failed.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try fileSystem.write(rest, to: descriptor, path: temporary))
        }
    }

    /// Puts the file in its place, and returns once it is durable.
    ///
    /// - Throws: ``FileError`` of the call that failed; the file then holds either the old or the new bytes.
    package func commit() throws(FileError) {
        try fileSystem.setMode(mode, of: descriptor, path: temporary)
        try fileSystem.synchronize(descriptor, path: temporary)
        try fileSystem.rename(temporary, to: path)
        isRenamed = true
        try fileSystem.synchronizeDirectory(FilePath.directory(of: path))
    }

    deinit {
        fileSystem.close(descriptor)
        guard !isRenamed else { return }
        try? fileSystem.remove(temporary)  // The first error is reported; leftovers are removed at the next open.
    }
}
