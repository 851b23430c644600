internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import NanoTDF
internal import NodeModel
internal import NodeService

/// Opens a sealed file with the private key of its recipient.
struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a NanoTDF with the private key that it was sealed to.",
        discussion: """
            Needs no home. Nothing is written before it is verified. A file with several parts that goes to standard \
            output is written part by part: if a later one is refused, the command ends with 65, and what was written \
            is incomplete. With --output the file appears when it is whole.
            """
    )

    /// More than a person reads on a terminal.
    private static let terminalByteLimit = 1 << 20

    @Argument(help: "The file; - or nothing is standard input.", completion: .file())
    var file = "-"
    @Option(help: ArgumentHelp("The private key of the recipient, in PEM.", valueName: "key.pem"), completion: .file())
    var key: String
    @Option(
        help: ArgumentHelp("Refuse a file that this public key did not sign.", valueName: "key.pem"),
        completion: .file()
    )
    var signedBy: String?
    @Option(
        help: ArgumentHelp("Write into this file, in place of what is there.", valueName: "file"),
        completion: .file()
    )
    var output: String?
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard isFile || !options.json else { throw ValidationError("--json needs --output FILE.") }
    }

    private var isFile: Bool { output != nil && output != "-" }

    // Off the main thread, which waits for signals meanwhile.
    @concurrent func run() async throws {
        try InputFile.checkStandardInput([("the file", file), ("--key", key), ("--signed-by", signedBy)])
        var reader = SealedFileReader(
            try InputFile(file),
            key: try KeyFile.privateKey(key),
            creator: try signedBy.map(KeyFile.publicKey)
        )
        guard let first = try reader.next() else {
            throw CommandFailure("no-data", .data, "there is nothing to open: the input is empty")
        }
        if !isFile, Output.isTerminal { return try show(first.opened, isWhole: reader.isEnded) }

        let output = try OutputFile.begin(output)
        var (parts, byteCount) = (1, first.opened.plaintext.count)
        let progress = ProgressLine()
        defer { progress.finish() }
        do {
            try output.write(first.opened.plaintext)
            while let part = try reader.next() {
                try output.write(part.opened.plaintext)
                parts += 1
                byteCount += part.opened.plaintext.count
                progress.show("opened: \(ByteCountText.text(of: Double(byteCount)))")
            }
        } catch {
            progress.finish()
            if output.path == nil { Output.note("the output is incomplete: do not use it") }
            throw error
        }
        let path = output.path
        try output.commit()
        progress.finish()
        guard options.json else { return remark(on: first.opened) }
        var report = NanoTDFReport(first.file, parts: parts, opened: first.opened, plaintextBytes: byteCount)
        report.path = path
        try Output.json(report)
    }

    /// Writes text to the terminal, escaped, because a terminal obeys some bytes; other content is not written to it.
    private func show(_ opened: OpenedNanoTDF, isWhole: Bool) throws {
        guard isWhole, opened.plaintext.count <= Self.terminalByteLimit,
            let text = String(utf8: opened.plaintext)
        else {
            throw CommandFailure("usage", .usage, "this is no text for a terminal: add --output FILE")
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try Output.line(String(line)) }
        remark(on: opened)
    }

    private func remark(on opened: OpenedNanoTDF) {
        if opened.creator == nil { Output.note("not signed: anyone who knows the public key could have sealed this") }
        if signedBy == nil, let creator = opened.creator {
            let name = String(decoding: creator.identifier, as: UTF8.self)
            Output.note("signed by the key \(name), which is not checked without --signed-by")
        }
        if !opened.binding.isAuthenticated { Output.note("its policy is not authenticated: anyone can replace it") }
    }
}
