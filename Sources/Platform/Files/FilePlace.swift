/// A name in an open directory, which stays valid if the path of the directory changes.
///
/// The name is one component, and a symbolic link under that name is not followed, so it cannot lead out of the directory;
/// `RESOLVE_BENEATH` of Linux would have no effect.
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
