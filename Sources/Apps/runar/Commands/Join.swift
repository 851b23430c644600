internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import QRCode

/// Becomes a member of a network.
struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join a network: with an invitation, or with the texts that its owner gave you.",
        discussion: """
            With an invitation (`runar network invite` there) nothing else is needed: run `runar join`, paste the link, \
            and compare the six digits on both screens. It is read from standard input or a file, never from an argument: \
            it is a secret.
            Without a connection to the owner it takes the text of the network (`runar network show --text` there) and \
            the token for this device (`runar network issue PEER` there), in any order, together or one after the other: \
            pasted as arguments, from files, or from standard input.
            """
    )

    @Argument(help: "The texts, or files that hold them; nothing or - reads standard input.", completion: .file())
    var texts: [String] = []
    @Option(
        help: ArgumentHelp(
            "Read the codes in a picture of the owner's screen instead; may be given several times.",
            valueName: "file"
        ),
        completion: .file()
    )
    var picture: [String] = []
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func run() async throws {
        var found = try picture.flatMap { try ImageCodes.readings(in: $0).compactMap(\.text) }
        if picture.isEmpty || !texts.isEmpty { found.append(try InputText.pasted(texts, limit: 64 * 1024)) }
        let text = found.joined(separator: "\n")
        guard !Invitation.isText(text) else { return try await join(by: text) }
        try InputText.requireText(text, "paste the link that `runar network invite` shows there")
        let request = Operations.join(JoinForm(text))
        let report = try await Session.with(home, node) { try await $0.send(request) }
        try Output.report(report, asJSON: home.output.json)
    }

    private func join(by text: String) async throws {
        let request = Operations.joinByInvitation(TextForm(Self.invitation(in: text)))
        let asJSON = home.output.json
        let digits = DelayedNote()
        let report = try await Interruption.run {
            async let _ = digits.run()
            return try await Session.with(home, node, onNetwork: true) { session in
                try await session.send(request) { update in
                    guard case .joinPending(let report) = update else { return }
                    if asJSON { try Output.json(report) } else { digits.set(report.line) }
                }
            }
        }
        guard let report else {
            throw CommandFailure.interrupted(
                "the join was cancelled; if the inviter was reached, the invitation is used up: ask for a new one"
            )
        }
        digits.show()
        try Output.report(report, asJSON: asJSON)
    }

    /// The most lines over which a mail breaks a link.
    private static let mostLines = 64

    /// The link alone, ignoring surrounding text; a mail may have broken it over lines.
    private static func invitation(in text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.firstIndex(where: Invitation.isText) else { return text }
        for end in words.indices[first...].prefix(mostLines) {
            let link = words[first...end].joined()
            if (try? Invitation(text: link)) != nil { return link }  // only a test; the node reports errors
        }
        return words[first...].joined()
    }
}
