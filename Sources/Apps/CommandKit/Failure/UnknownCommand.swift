internal import ArgumentParser
internal import CommandModel

/// A word in the place of a command that is no command; the parser would call it, or the next option, unexpected.
enum UnknownCommand {
    /// More commands with one name in other places are no advice.
    private static let mostCandidates = 3

    /// The failure for such a word, with the command that was probably meant; nil if the mistake is another one.
    static func failure(in arguments: [String], of program: any Program.Type) -> CommandFailure? {
        var command: any ParsableCommand.Type = program
        var path: [String] = []
        // `help pears` asks for the help of a command, so its word must be one.
        let words = arguments.filter { $0 != "--json" }
        for word in words.first == "help" ? words.dropFirst() : words[...] {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let next = commands.first(where: { names(of: $0).contains(word) }) {
                command = next
                path.append(word)
                continue
            }
            let parent = ([program._commandName] + path).joined(separator: " ")
            let advice =
                likelyCommands(for: word, in: command, after: path, of: program).map { "did you mean \($0)?" }
                ?? "`\(parent) --help` lists them"
            let typed = (path + [word]).joined(separator: " ")
            return CommandFailure("usage", .usage, "there is no command \"\(typed)\": \(advice)")
        }
        return nil
    }

    /// The commands that a word may mean: with exactly this name elsewhere, by a synonym, or with a similar name here.
    private static func likelyCommands(
        for word: String,
        in parent: any ParsableCommand.Type,
        after path: [String],
        of program: any Program.Type
    ) -> String? {
        let word = word.lowercased()
        let named = leaves(of: program, [program._commandName]).filter { $0.last == word }
        let depth = named.map(\.count).min() ?? 0
        let nearest = named.filter { $0.count == depth }
        if 1...mostCandidates ~= nearest.count {
            return nearest.map { "`\($0.joined(separator: " "))`" }.joined(separator: " or ")
        }
        if let synonym = program.synonyms[word], path.isEmpty { return "`\(synonym)`" }
        let shown = parent.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        return Nearest.likelyName(for: word, among: shown).map { name in
            "`\(([program._commandName] + path + [name]).joined(separator: " "))`"
        }
    }

    /// The paths of all commands below `command` that help lists.
    private static func leaves(of command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { next in
            let path = path + [next._commandName]
            return [path] + leaves(of: next, path)
        }
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
