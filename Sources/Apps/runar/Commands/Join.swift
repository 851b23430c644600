internal import ArgumentParser

/// Becomes a member of a network.
struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Join a network with the texts that its owner gave you.",
        discussion: """
            Takes the text of the network (`runar network show --text` there) and the token for this device \
            (`runar network issue PEER` there), in any order, together or one after the other: pasted as arguments, \
            from files, or from standard input.
            """
    )

    @Argument(help: "The texts, or files that hold them; nothing or - reads standard input.")
    var texts: [String] = []
    @OptionGroup var home: HomeOptions

    func run() async throws {
        let text = try InputText.pasted(texts, limit: 64 * 1024)
        let request = ControlRequest.join(text)
        let report = try await Session.with(home) { try await $0.ask(request, for: JoinReport.self) }
        Output.report(report, asJSON: home.output.json)
    }
}
