internal import Foundation
internal import Platform

/// A text that comes as an argument, from a file, or from standard input.
enum InputText {
    /// Reads a file; `-` is standard input.
    ///
    /// - Throws: ``CommandFailure`` when there is no such file or it is no text.
    static func read(_ path: String, limit: Int) throws -> String {
        guard let text = String(validating: try bytes(path, limit: limit), as: UTF8.self) else {
            throw CommandFailure("bad-text", .data, "\(path == "-" ? "standard input" : path) is not a text in UTF-8")
        }
        return text
    }

    /// Reads the bytes of a file; `-` is standard input.
    ///
    /// - Throws: ``CommandFailure`` when there is no such file.
    static func bytes(_ path: String, limit: Int) throws -> [UInt8] {
        if path == "-" { return try standardInput(limit: limit) }
        guard let found = try AtomicFile.read(HomeOptions.absolute(path), limit: limit) else {
            throw CommandFailure(
                "no-file",
                .noInput,
                "there is no file \(path): check the path, or use - for standard input"
            )
        }
        return found
    }

    /// Pasted text, or the file of that name, or standard input.
    static func pasted(_ words: [String], limit: Int) throws -> String {
        guard !words.isEmpty, words != ["-"] else {
            if words.isEmpty, Posix.isTerminal(0) {
                Output.note("paste the text, then press Control-D on a line of its own")
            }
            return try read("-", limit: limit)
        }
        // A text of ours begins with a brace; a file name hardly ever does.
        return try words.map { $0.contains("{") ? $0 : try read($0, limit: limit) }.joined(separator: "\n")
    }

    private static func standardInput(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let chunk = Posix.read(0, atMost: 64 * 1024)
            if chunk.isEmpty { return bytes }
            bytes += chunk
            guard bytes.count <= limit else {
                throw CommandFailure("too-large", .data, "standard input is larger than \(limit) bytes")
            }
        }
    }
}
