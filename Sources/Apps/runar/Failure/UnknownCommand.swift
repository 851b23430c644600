internal import ArgumentParser
internal import NodeService

/// A word in the place of a command that is no command; the parser would call it, or the next option, unexpected.
enum UnknownCommand {
    /// The failure for such a word, with the command that was probably meant; nil if the mistake is another one.
    static func failure(in arguments: [String]) -> CommandFailure? {
        var command: any ParsableCommand.Type = Runar.self
        var path: [String] = []
        for word in arguments where word != "--json" {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let next = commands.first(where: { names(of: $0).contains(word) }) {
                command = next
                path.append(word)
                continue
            }
            let parent = (["runar"] + path).joined(separator: " ")
            let shown = commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
            let advice =
                Nearest.likelyName(for: word, among: shown).map { "did you mean `\(parent) \($0)`?" }
                ?? "`\(parent) --help` lists them"
            let typed = (path + [word]).joined(separator: " ")
            return CommandFailure("usage", .usage, "there is no command \"\(typed)\": \(advice)")
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
