internal import Platform

/// A file that a command writes at a path which a person gave.
package enum FileToWrite {
    /// Throws if the folder of the file does not exist.
    ///
    /// - Throws: ``CommandFailure`` that names the folder and the option; ``FileError``.
    package static func checkFolder(of path: String, option: String) throws {
        let folder = FilePath.directory(of: path)
        guard try SystemFileSystem().status(of: folder, followingLink: true)?.kind == .directory else {
            throw CommandFailure("no-directory", .noInput, "there is no folder \(folder): make it, or change \(option)")
        }
    }
}
