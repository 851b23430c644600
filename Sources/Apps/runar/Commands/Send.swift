internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// Sends a message or a file.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a message or a file, and return once the other side has it.",
        discussion: """
            `runar send PEER TEXT`, `runar send PEER --file PATH`, or `runar send --all TEXT` to all connected peers. \
            With - the text is read from standard input. An interrupted file is resumed by sending it again.
            """
    )

    /// The largest text that is read from standard input, in bytes.
    ///
    /// A control frame has room for it even if JSON escapes each byte with six characters.
    private static let textByteLimit = 2 << 20

    @Argument(help: "PEER TEXT; only PEER with --file; only TEXT with --all. PEER: id, its beginning, or label.")
    var words: [String] = []
    @Option(help: ArgumentHelp("Send this file instead of a text.", valueName: "path"), completion: .file())
    var file: String?
    @Flag(help: "Send to all connected peers.")
    var all = false
    @Flag(help: "Seal the text to a one-time key of the peer: `runar keys exchange PEER` first.")
    var sealed = false
    @Option(help: "With --all: only to the members of this network.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        switch (file, all, words.count) {
        case (nil, false, 2), (_?, false, 1), (nil, true, 1): break
        case (_?, true, _): throw ValidationError("A file is sent to one peer: `runar send PEER --file PATH`.")
        case (_?, false, _): throw ValidationError("With --file give just the peer: `runar send PEER --file PATH`.")
        case (nil, true, _): throw ValidationError("With --all give just the text, in quotation marks.")
        default: throw ValidationError("Give a peer and a text in quotation marks: `runar send PEER \"TEXT\"`.")
        }
        guard !sealed || (file == nil && !all) else { throw ValidationError("--sealed goes with one peer and a text.") }
        guard all || network == nil else { throw ValidationError("--network goes with --all.") }
    }

    func run() async throws {
        if let file { return try await sendFile(HomeOptions.absolute(file)) }
        if all { return try await broadcast() }
        let (peer, text) = (PeerName(words[0]), try Self.text(words[1]))
        let request = sealed ? Operations.sendSealed(peer, TextForm(text)) : Operations.send(peer, TextForm(text))
        let report = try await Session.answer(to: request, home, node, onNetwork: true)
        try Output.report(report, asJSON: home.output.json)
    }

    /// Returns the message that an argument means; `-` is standard input.
    private static func text(_ word: String) throws -> String {
        guard word == "-" else { return word }
        return try InputText.read("-", limit: textByteLimit, otherwise: "send it with `runar send PEER --file PATH`")
    }

    private func broadcast() async throws {
        let request = Operations.broadcast(network.map { NetworkName($0) }, TextForm(try Self.text(words[0])))
        let report = try await Session.answer(to: request, home, node, onNetwork: true)
        try Output.report(report, asJSON: home.output.json)
        guard let failure = report.error else { return }
        if !home.output.json { Output.failure(failure, asJSON: false) }
        throw ExitCode(failure.status.rawValue)
    }

    private func sendFile(_ path: String) async throws {
        let kind = try SystemFileSystem().status(of: path, followingLink: false)?.kind
        guard kind == .file else {
            let problem =
                switch kind {
                case .directory: "\(path) is a directory: pack it into one file, and send that"
                case .symbolicLink: "\(path) is a link: name the file that it points to"
                case .other: "\(path) is no ordinary file: copy what it holds into one, and send that"
                case .file, nil: "there is no file \(path): check the path"
                }
            throw CommandFailure("no-file", .noInput, problem)
        }
        let progress = ProgressLine()
        defer { progress.finish() }
        let request = Operations.sendLocalFile(PeerName(words[0]), PathForm(path))
        let name = FilePath.name(of: path)
        let wait = "waiting until \(words[0]) accepts \(name)"
        async let _ = progress.showWhileWaiting(wait, atMost: FileOfferReport.patience)
        let report = try await Session.answer(to: request, home, node, onNetwork: true) { update in
            if case .transferred(let count, let total) = update { progress.show(name, count, of: total) }
        }
        progress.finish()
        try Output.report(report, asJSON: home.output.json)
    }
}
