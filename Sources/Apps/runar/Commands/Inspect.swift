internal import ArgumentParser
internal import NodeService
internal import Platform

/// Explains anything of this system.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain a text: network, token, connection text, invitation, id, certificate, revocations, device.",
        discussion: "Needs no home. What is none of these ends with exit code 65."
    )

    /// The largest set of revocations has room.
    private static let byteLimit = 16 << 20

    @Argument(help: "The file; - or nothing is standard input.")
    var file = "-"
    @OptionGroup var output: OutputOptions

    func run() throws {
        let bytes = try InputText.bytes(file, limit: Self.byteLimit)
        let report: InspectionReport
        do {
            report = try InspectionReport(bytes, at: SystemProcess.wallSeconds)
        } catch {
            report = InspectionReport(malformed: "\(error)")
        }
        if output.json {
            Output.json(report)
        } else if let failure = report.failure {
            Output.failure(failure, asJSON: false)
        } else {
            for line in report.lines { Output.line(line) }
        }
        if let failure = report.failure { throw ExitCode(failure.status.rawValue) }
    }
}
