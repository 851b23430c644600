/// A name directly in a directory that is open: whatever happens to the path of the directory, what is done here is
/// done in that directory and nowhere else.
///
/// The name is one component, and a symbolic link in its place is not followed, so nothing is left for a path to lead
/// elsewhere; `RESOLVE_BENEATH` of Linux would have nothing to refuse.
package struct FilePlace: Hashable, Sendable {
    /// The descriptor of the directory; it stays open as long as this is used.
    package let directory: Int32
    /// One component.
    package let name: String
    /// For errors and for people.
    package let path: String

    /// - Throws: ``FileError`` with ``SystemErrors/invalid`` when `name` is not one component.
    package init(_ name: String, in directory: Int32, of path: String) throws(FileError) {
        self.directory = directory
        self.name = name
        self.path = FilePath.joining(path, name)
        guard FilePath.isComponent(name) else {
            throw FileError(operation: "use the name", path: name, code: SystemErrors.invalid)
        }
    }
}
