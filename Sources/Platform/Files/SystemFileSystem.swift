internal import Libc

/// The files of this machine.
@safe
package struct SystemFileSystem: FileSystem {
    package init() {}

    package var userId: UInt32 { geteuid() }

    package func open(_ path: String, for use: FileUse) throws(FileError) -> Int32 {
        try checked("open", path) { unsafe Libc.open(path, Self.flags(of: use), 0o600) }
    }

    private static func flags(of use: FileUse) -> Int32 {
        let flags =
            switch use {
            case .reading, .readingNamed: O_RDONLY
            case .creating: O_WRONLY | O_CREAT | O_EXCL
            case .appending: O_WRONLY | O_CREAT | O_APPEND
            case .locking: O_RDWR | O_CREAT
            }
        return flags | O_CLOEXEC | (use == .readingNamed ? 0 : O_NOFOLLOW)
    }

    package func read(_ descriptor: Int32, count: Int, path: String) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = try checked("read", path) {
            unsafe bytes.withUnsafeMutableBytes { unsafe Libc.read(descriptor, $0.baseAddress, $0.count) }
        }
        bytes.removeLast(count - taken)
        return bytes
    }

    package func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, path: String) throws(FileError) -> Int {
        try checked("write", path) {
            unsafe bytes.withUnsafeBytes { unsafe Libc.write(descriptor, $0.baseAddress, $0.count) }
        }
    }

    package func setMode(_ mode: UInt32, of descriptor: Int32, path: String) throws(FileError) {
        _ = try checked("set the mode of", path) { fchmod(descriptor, mode_t(mode)) }
    }

    package func synchronize(_ descriptor: Int32, path: String) throws(FileError) {
        _ = try checked("synchronize", path) { synchronizeFile(descriptor) }
    }

    package func close(_ descriptor: Int32) { _ = Libc.close(descriptor) }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        _ = try checked("replace", destination) { unsafe Libc.rename(source, destination) }
    }

    package func remove(_ path: String) throws(FileError) {
        _ = try checked("remove", path) { unsafe unlink(path) }
    }

    package func synchronizeDirectory(_ path: String) throws(FileError) {
        let descriptor = try openDirectory(path)
        defer { close(descriptor) }
        try synchronize(descriptor, path: path)
    }

    package func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try checked("open", path) { unsafe Libc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    package func open(_ place: FilePlace, for use: FileUse) throws(FileError) -> Int32 {
        try checked("open", place.path) {
            unsafe openat(place.directory, place.name, Self.flags(of: use), 0o600)
        }
    }

    package func rename(_ source: FilePlace, to destination: FilePlace) throws(FileError) {
        _ = try checked("replace", destination.path) {
            unsafe renameat(source.directory, source.name, destination.directory, destination.name)
        }
    }

    package func remove(_ place: FilePlace) throws(FileError) {
        _ = try checked("remove", place.path) { unsafe unlinkat(place.directory, place.name, 0) }
    }

    package func makeDirectory(_ path: String, mode: UInt32) throws(FileError) {
        _ = try checked("make the directory", path) { unsafe mkdir(path, mode_t(mode)) }
    }

    /// Removes an empty directory.
    package func removeDirectory(_ path: String) throws(FileError) {
        _ = try checked("remove the directory", path) { unsafe rmdir(path) }
    }

    package func names(in directory: String) throws(FileError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            throw FileError(operation: "list", path: directory, code: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    package func status(of path: String, followingLink: Bool) throws(FileError) -> FileStatus? {
        var status = stat()
        do {
            _ = try checked("look at", path) {
                unsafe followingLink ? stat(path, &status) : lstat(path, &status)
            }
        } catch let error where error.code == ENOENT {
            return nil
        }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        return FileStatus(
            kind: kind,
            mode: UInt32(status.st_mode) & 0o7777,
            owner: status.st_uid,
            byteCount: Int(status.st_size),
            modifiedSeconds: UInt64(max(0, status.modified.tv_sec)),
            modifiedNanoseconds: UInt32(clamping: status.modified.tv_nsec),
            number: UInt64(status.st_ino)
        )
    }

    package func lock(_ descriptor: Int32, path: String) throws(FileError) -> Bool {
        do {
            _ = try checked("lock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch let error where error.code == EWOULDBLOCK {
            return false
        }
    }

    package func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

    /// Repeats a call while signals interrupt it; minus one is a failure.
    private func checked<Result: FixedWidthInteger & SignedInteger>(
        _ operation: String,
        _ path: String,
        _ call: () -> Result
    ) throws(FileError) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let code = errno
            guard code == EINTR else { throw FileError(operation: operation, path: path, code: code) }
        }
    }
}
