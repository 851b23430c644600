package import ArgumentParser

/// The options of every command.
package struct OutputOptions: ParsableArguments {
    package static let jsonHelp: ArgumentHelp = "Print one JSON object instead of text; errors too."

    @Flag(help: jsonHelp)
    package var json = false

    package init() {}
}
