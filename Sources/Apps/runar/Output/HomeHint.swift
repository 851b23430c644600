internal import NodeModel
internal import NodeService

/// Repeats `--home` in the commands that a text advises, so that they can be copied as they are.
enum HomeHint {
    /// The home that the person named, as it was typed; nil for the usual one.
    private static let given = home(in: Array(CommandLine.arguments.dropFirst()))

    /// Ends the part of a text that is about one device.
    private static let delimiters: Set<Character> = [",", ";", ":", "?", "."]
    /// The words that mark a command for another device, for whose home no hint can be given.
    private static let elsewhere = [" there", "there ", "that device", "on the other", "on a device", "new device"]
    /// Commands without a home.
    private static let homeless: Set<Substring> = ["stun", "qr", "demo", "simulate", "completion", "inspect"]

    /// Returns `text` with the home that the person named.
    static func repeated(in text: String) -> String { given.map { repeating($0, in: text) } ?? text }

    /// The value of `--home` among the arguments of a command.
    static func home(in arguments: [String]) -> String? {
        let options = arguments.prefix { $0 != "--" }
        for (option, value) in zip(options, options.dropFirst() + [""]) {
            if option == "--home", !value.isEmpty { return value }
            if option.hasPrefix("--home="), option != "--home=" { return String(option.dropFirst("--home=".count)) }
        }
        return nil
    }

    /// Returns `text` with `--home` in each command in back quotes that is for this device.
    static func repeating(_ home: String, in text: String) -> String {
        var pieces = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        for index in pieces.indices.filter({ !$0.isMultiple(of: 2) }) {
            let words = pieces[index].split(separator: " ")
            guard words.first == "runar", words.count > 1, !homeless.contains(words[1]), !words.contains("--home"),
                !isElsewhere(index, in: pieces)
            else { continue }
            pieces[index] += " --home \(quoted(home))"
        }
        return pieces.joined(separator: "`")
    }

    /// Whether the words around the command at `index`, up to the next delimiters, are about another device.
    private static func isElsewhere(_ index: Int, in pieces: [String]) -> Bool {
        var clause = ""
        for position in stride(from: index - 1, through: 0, by: -2) {
            let piece = pieces[position]
            let cut = piece.lastIndex(where: delimiters.contains)
            clause = (cut.map { String(piece[piece.index(after: $0)...]) } ?? piece) + clause
            if cut != nil { break }
        }
        for position in stride(from: index + 1, to: pieces.count, by: 2) {
            let piece = pieces[position]
            let cut = piece.firstIndex(where: delimiters.contains)
            clause += cut.map { String(piece[..<$0]) } ?? piece
            if cut != nil { break }
        }
        return elsewhere.contains(where: clause.contains)
    }

    /// As a shell reads it back.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-~+@%".contains($0)) }
        return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
    }
}
