internal import Foundation

/// A directory that goes away with its last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "runar-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: self.path)  // whatever stays is in the system's temporary place
    }

    @discardableResult
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        let path = self.path + "/" + name
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self.path + "/" + name)))
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: self.path).sorted() }
    }
}
