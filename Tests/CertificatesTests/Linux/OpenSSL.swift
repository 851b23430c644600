#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// The `openssl` command, which shares no code with ours.
enum OpenSSL {
    static func isPresent() throws -> Bool {
        let version = try run("version")
        if version.status != 0 {
            print("not checked against OpenSSL: no openssl command was found (\(version.output))")
        }
        return version.status == 0
    }

    /// Runs the command and returns its exit status and output.
    static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting
        let process = try SpawnedProcess("/usr/bin/env", ["openssl"] + arguments, output: writer, errors: writer)
        try writer.close()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return (process.waitUntilExit(), output)
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { remove(folder) }
        try body(folder)
    }

    static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("the temporary folder could not be removed: \(error)")
        }
    }

    static func write(_ bytes: [UInt8], to name: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path(percentEncoded: false)
    }

    static func write(_ text: String, to name: String, in folder: URL) throws -> String {
        try write([UInt8](text.utf8), to: name, in: folder)
    }
}
#endif
