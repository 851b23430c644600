/// A directory with all that is in it.
package enum DirectoryTree {
    /// The deepest nesting that is followed: the directories of a home nest two levels.
    private static let depthLimit = 8

    /// Removes the directory at `path`, if it exists.
    ///
    /// Symbolic links in it are removed and never followed.
    ///
    /// - Throws: ``FileError``; files that were removed before stay removed.
    package static func remove(_ path: String) throws(FileError) {
        guard try SystemFileSystem().status(of: path, followingLink: false) != nil else { return }
        try remove(path, depth: depthLimit)
        try SystemFileSystem().synchronizeDirectory(FilePath.directory(of: path))
    }

    private static func remove(_ path: String, depth: Int) throws(FileError) {
        let files = SystemFileSystem()
        guard depth > 0, try files.status(of: path, followingLink: false)?.kind == .directory else {
            return try files.remove(path)
        }
        for name in try files.names(in: path).sorted() {
            try remove(FilePath.joining(path, name), depth: depth - 1)
        }
        try files.removeDirectory(path)
    }
}
