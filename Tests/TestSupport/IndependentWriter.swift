internal import Foundation

/// zxing-cpp, which draws symbols that we read (Tests/Interop/write_symbols.py).
///
/// It is there where `IndependentReaders.missing` says nothing.
package enum IndependentWriter {
    /// A symbol to be drawn.
    package struct Request: Encodable, Sendable {
        package let text: String
        package let version: Int
        package let level: String

        /// A symbol of this version and level (`L`, `M`, `Q` or `H`) that says `text`.
        package init(text: String, version: Int, level: String) {
            self.text = text
            self.version = version
            self.level = level
        }
    }

    /// For each request the rows of its modules, in which 1 is dark; fewer if one cannot be drawn.
    package static func draw(_ requests: [Request]) throws -> [[String]] {
        let file = FileManager.default.temporaryDirectory.appending(path: "requests-\(UUID().uuidString).jsonl")
        let lines = try requests.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }  // the system empties the folder for temporary files
        let process = try ChildProcess(script: "write_symbols.py", arguments: [file.path])
        var symbols: [[String]] = []
        while let line = process.nextLine() {
            symbols.append(try JSONDecoder().decode([String].self, from: Data(line.utf8)))
        }
        _ = process.waitUntilExit()
        return symbols
    }
}
