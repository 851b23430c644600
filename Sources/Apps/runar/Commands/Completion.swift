internal import ArgumentParser
internal import CommandKit
internal import NodeModel
internal import NodeService

/// Prints a completion script.
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a completion script for a shell.",
        discussion: """
            bash: runar completion bash > ~/.local/share/bash-completion/completions/runar
            zsh:  runar completion zsh > ~/.zsh/completions/_runar
            fish: runar completion fish > ~/.config/fish/completions/runar.fish
            """
    )

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish

        var completionShell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell
    @OptionGroup var output: OutputOptions

    func run() throws {
        let script = Runar.completionScript(for: shell.completionShell)
        if output.json {
            try Output.json(["shell": shell.rawValue, "script": script])
        } else {
            try Output.raw(script + "\n")
        }
    }
}
