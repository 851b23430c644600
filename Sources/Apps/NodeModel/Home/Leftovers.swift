package import Platform

/// Files that a process which was killed left while it wrote them.
///
/// Nothing else finds them: their names are random, or belong to a transfer that may never be taken up again.
package struct Leftovers {
    /// An upload, a vault that was sealed or opened for the console, and a temporary file of ``AtomicFile``.
    private static let prefixes = [".console.upload-", ".vault-", "..vault-"]
    private static let unfinished = ".writing-"
    /// The end of a partial file, after 32 hexadecimal digits of the content.
    private static let partialSuffix = ".part"
    private static let digitCount = 32
    /// A sender resumes a transfer within this time, or begins again.
    private static let partialSeconds: UInt64 = 86_400

    private let fileSystem = SystemFileSystem()
    let now: UInt64

    package init(now: UInt64 = SystemProcess.wallSeconds) {
        self.now = now
    }

    /// Removes what is left in a home whose lock this process holds, and old partial files where files arrive: in the
    /// directory for files of the console, in `standing`, and in every other directory that ever received a file.
    ///
    /// A file that cannot be removed costs room only, and is tried again at the next start.
    package func remove(from home: DataDirectory, accepting standing: String?) {
        for name in names(in: home.path) where Self.isLeftover(name) {
            try? fileSystem.remove(home.file(name))  // see above
        }
        let always = [home.file(FileStore.directoryName), standing].compactMap(\.self)
        for directory in always { _ = removePartials(in: directory) }
        ReceivingDirectories(home: home).keep { always.contains($0) || removePartials(in: $0) }
    }

    /// Removes old partial files; true when younger ones remain, or the directory cannot be listed now.
    private func removePartials(in directory: String) -> Bool {
        guard let names = try? fileSystem.names(in: directory) else { return true }  // its disk may be absent
        var isUsed = false
        for name in names where Self.isPartial(name) {
            let path = FilePath.joining(directory, name)
            guard let status = try? fileSystem.status(of: path, followingLink: false),  // see above
                status.kind == .file
            else { continue }
            guard status.modifiedSeconds + Self.partialSeconds < now,
                (try? fileSystem.remove(path)) != nil  // see above
            else {
                isUsed = true
                continue
            }
        }
        return isUsed
    }

    private func names(in directory: String) -> [String] {
        (try? fileSystem.names(in: directory)) ?? []  // a missing directory has no leftovers
    }

    static func isLeftover(_ name: String) -> Bool {
        prefixes.contains(where: name.hasPrefix) || (name.hasPrefix(".") && name.contains(unfinished))
    }

    /// Whether a name is one that `IncomingFile` gives; the directory may be one of the person's.
    private static func isPartial(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(partialSuffix) else { return false }
        let stem = name.dropLast(partialSuffix.count)
        let digits = stem.suffix(digitCount)
        return digits.count == digitCount && digits.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
            && stem.dropLast(digitCount).last == "-"
    }
}
