internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// A text from an argument, a file, or standard input.
enum InputText {
    /// The advice if a text exceeds the size of the expected one.
    private static let isOther = "it is something else"
    /// The prompt of a command that has none of its own.
    private static let question =
        "Paste the text and press Return. If the prompt does not close, press Control-D on an empty line."

    /// Reads a file; `-` is standard input.
    ///
    /// - Throws: ``CommandFailure`` when there is no such file or it is no text.
    static func read(_ path: String, limit: Int, otherwise advice: String? = nil) throws -> String {
        let bytes = try bytes(path, limit: limit, otherwise: advice ?? Self.isOther)
        guard let text = String(utf8: bytes) else {
            let failure = "\(path == "-" ? "standard input" : path) is not a text in UTF-8"
            throw CommandFailure("bad-text", .data, advice.map { "\(failure): \($0)" } ?? failure)
        }
        return text
    }

    /// Reads the bytes of a file; `-` is standard input.
    ///
    /// The file is one that a person names: links are followed, and it may be a pipe, as in `<(command)`.
    ///
    /// - Throws: ``CommandFailure`` when there is no such file or it is too large, with `advice`; ``FileError``.
    static func bytes(_ path: String, limit: Int, otherwise advice: String = isOther) throws -> [UInt8] {
        try bytes(InputFile(path).read(limit + 1), of: path, limit: limit, otherwise: advice)
    }

    /// Checks that `bytes`, which were read from a file, are at most `limit`.
    ///
    /// - Throws: ``CommandFailure`` with `advice`.
    static func bytes(
        _ bytes: [UInt8],
        of path: String,
        limit: Int,
        otherwise advice: String = isOther
    ) throws(CommandFailure) -> [UInt8] {
        guard bytes.count <= limit else {
            let name = path == "-" ? "standard input" : path
            throw CommandFailure("too-large", .data, "\(name) is larger than \(limit) bytes: \(advice)")
        }
        return bytes
    }

    /// Throws if `text` is empty or white space, with advice on the text to paste.
    static func requireText(_ text: String, _ advice: String) throws(CommandFailure) {
        guard text.allSatisfy(\.isWhitespace) else { return }
        throw CommandFailure("no-text", .usage, "nothing was pasted: \(advice)")
    }

    /// Pasted text, or the file of that name, or standard input.
    static func pasted(
        _ words: [String],
        limit: Int,
        asking question: String? = nil,
        until isWhole: (String) -> Bool = Invitation.isText
    ) throws -> String {
        guard !words.isEmpty, words != ["-"] else {
            guard words.isEmpty, Posix.isTerminal(0) else { return try read("-", limit: limit) }
            Output.note(question ?? Self.question)
            return try typed(limit: limit, until: isWhole)
        }
        // A text of this program begins with a brace or is a link; a file name hardly ever does or is.
        return try words.map { $0.contains("{") || Link.isOurs($0) ? $0 : try read($0, limit: limit) }.joined(
            separator: "\n"
        )
    }

    /// Returns the text that a person types: to its end, or to the end of the line that completes it.
    private static func typed(limit: Int, until isWhole: (String) -> Bool) throws -> String {
        var text = ""
        while text.utf8.count <= limit {
            let chunk = Posix.read(0, atMost: limit)
            if chunk.isEmpty { return text }
            text += String(decoding: chunk, as: UTF8.self)
            if text.hasSuffix("\n"), isWhole(text) { return text }
        }
        throw CommandFailure("too-large", .data, "this is longer than \(limit) bytes: it is something else")
    }
}
