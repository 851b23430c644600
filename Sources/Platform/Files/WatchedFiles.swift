/// Files whose changes a running program takes over, such as the certificate that certbot renews.
package struct WatchedFiles: Sendable {
    /// The outcome of taking changed files over.
    package enum Outcome: Hashable, Sendable {
        case taken
        /// They are not used, and tried again later.
        case refused(reason: String)
    }

    package let paths: [String]
    /// The files that are in use.
    private var used: [FileStatus?]
    /// The last refusal, and the files then.
    private var refusal: (files: [FileStatus?], reason: String)?

    /// Watches the files at `paths` from now on, which is before they are read; one that does not exist may appear later.
    package init(_ paths: [String]) {
        self.paths = paths
        used = Self.statuses(of: paths)
    }

    /// Runs `load` if a file was written, made, replaced or removed since the last `load` that did not throw.
    ///
    /// - Returns: The outcome; nil if nothing changed, also if the same refusal is repeated.
    package mutating func takeOver(_ load: () throws -> Void) -> Outcome? {
        let found = Self.statuses(of: paths)
        guard found != used else { return nil }
        do {
            try load()
            (used, refusal) = (found, nil)
            return .taken
        } catch {
            let (former, reason) = (refusal, "\(error)")
            refusal = (found, reason)
            return former?.files == found && former?.reason == reason ? nil : .refused(reason: reason)
        }
    }

    private static func statuses(of paths: [String]) -> [FileStatus?] {
        // A missing file is a state of its own.
        paths.map { try? SystemFileSystem().status(of: $0, followingLink: true) }  // see above
    }
}
