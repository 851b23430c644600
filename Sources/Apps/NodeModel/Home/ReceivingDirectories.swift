internal import CommandModel
internal import Concurrency
internal import Platform

/// The directories in which files of peers arrive, kept in the home.
///
/// A transfer leaves a partial file in the directory that a person or a setting chose. Every such directory is written
/// down before the first byte, so that a later start finds the partial files of transfers that were never completed.
final class ReceivingDirectories: Sendable {
    static let fileName = "receiving.json"
    /// Directories that are remembered; the oldest is forgotten for a further one.
    static let limit = 128
    /// Room for that many of the longest paths of Linux, with each byte escaped.
    private static let byteLimit = limit * 6 * 4096

    private let path: String
    /// The directories, the oldest first; nil before they were read.
    private let known = Locked<[String]?>(nil)

    init(home: DataDirectory) {
        path = home.file(Self.fileName)
    }

    /// The directories, the oldest first.
    var all: [String] {
        known.withLock { known in
            let directories = known ?? read()
            known = directories
            return directories
        }
    }

    /// Writes a directory down; returns when that is on the disk.
    func add(_ directory: String) throws(FileError) {
        try change { directories in
            guard !directories.contains(directory) else { return }
            directories = directories.suffix(Self.limit - 1) + [directory]
        }
    }

    /// Forgets the directories for which `isUsed` is false; if that cannot be written, they are looked into again.
    func keep(_ isUsed: (String) -> Bool) {
        let kept = all.filter(isUsed)
        try? change { $0 = kept }  // see above
    }

    private func change(_ body: (inout [String]) -> Void) throws(FileError) {
        try known.withLock { known throws(FileError) in
            let before = known ?? read()
            var after = before
            body(&after)
            known = before
            guard after != before else { return }
            try AtomicFile.write(JSONText.bytes(after), to: path)
            known = after
        }
    }

    private func read() -> [String] {
        guard let bytes = try? AtomicFile.read(path, limit: Self.byteLimit) else { return [] }  // none was written yet
        // A file that is damaged costs at most the room of partial files.
        let directories = (try? JSONText.decode([String].self, from: bytes)) ?? []  // see above
        return directories.suffix(Self.limit)
    }
}
