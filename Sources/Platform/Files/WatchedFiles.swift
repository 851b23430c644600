/// Files whose changes a running program takes over, such as the certificate that certbot renews.
package struct WatchedFiles: Sendable {
    package let paths: [String]
    private var seen: [FileStatus?]

    /// Watches the files at `paths` from now on; one that does not exist may appear later.
    package init(_ paths: [String]) {
        self.paths = paths
        seen = Self.statuses(of: paths)
    }

    /// Returns whether a file was written, made, replaced or removed since the last call.
    package mutating func haveChanged() -> Bool {
        let found = Self.statuses(of: paths)
        defer { seen = found }
        return found != seen
    }

    private static func statuses(of paths: [String]) -> [FileStatus?] {
        // A missing file is a state of its own.
        paths.map { try? SystemFileSystem().status(of: $0, followingLink: true) }  // see above
    }
}
