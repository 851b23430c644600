internal import Foundation

/// A directory that only its user can read, removed with the last reference to this value.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "runar-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: url.path)
        path = url.path(percentEncoded: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // the system empties its temporary directory
    }

    /// The path of a file in the directory.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of all files, ascending.
    package func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    /// The bytes of a file.
    package func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: file(name))))
    }

    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws -> String {
        try Data(bytes).write(to: URL(filePath: file(name)))
        try setMode(mode, of: name)
        return file(name)
    }

    /// Sets the permissions of a file.
    package func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    }
}
