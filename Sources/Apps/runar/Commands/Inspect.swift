internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NanoTDF
internal import NodeModel
internal import NodeService
internal import Platform

/// Explains anything of this system.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Explain a text (network, token, invitation, id, certificate, device …) or a sealed file.",
        discussion: """
            Needs no home. It knows networks, tokens, connection texts, invitations, ids, certificates, revocations, \
            requests and answers of devices, cards of people, NanoTDFs, and identity tokens, of which only the key of \
            their service shows the claims. Everything else ends with exit code 65.
            """
    )

    /// The largest set of revocations has room.
    private static let byteLimit = 16 << 20

    @Argument(help: "The file, or a link that holds no secret; - or nothing is standard input.", completion: .file())
    var file = "-"
    @Option(
        help: ArgumentHelp("The private key that opens an identity token, in PEM.", valueName: "key.pem"),
        completion: .file()
    )
    var key: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        try InputFile.checkStandardInput([("the file", file), ("--key", key)])
        if Link.isOurs(file) { return try inspect(Array(file.utf8)) }
        var parts = PartReader(try InputFile(file))
        if try parts.isNanoTDF { return try inspect(&parts) }
        try inspect(InputText.bytes(parts.rest(limit: Self.byteLimit), of: file, limit: Self.byteLimit))
    }

    private func inspect(_ bytes: [UInt8]) throws {
        let report: InspectionReport
        let tokenKey = try key.map(KeyFile.privateKey)
        do {
            report = try InspectionReport(bytes, at: SystemProcess.wallSeconds, key: tokenKey)
        } catch {
            report = InspectionReport(malformed: "\(error)")
        }
        if output.json {
            try Output.json(report)
        } else if let failure = report.failure {
            Output.failure(failure, asJSON: false)
        } else {
            for line in report.lines { try Output.line(line) }
        }
        if let failure = report.failure { throw ExitCode(failure.status.rawValue) }
    }

    /// Reads all parts, makes the checks without a key, and describes the first.
    private func inspect(_ parts: inout PartReader) throws {
        guard let first = try parts.next() else { preconditionFailure("nothing follows a magic number") }
        var check = PartsCheck(first)
        while let part = try parts.next() { check.add(part) }
        let report = NanoTDFReport(first, parts: check.count, problem: check.problem)
        try Output.report(report, asJSON: output.json)
        if report.problem != nil { throw ExitCode(ExitStatus.data.rawValue) }
    }
}
