internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// Shows the whole thing with processes and homes of its own.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the main features: discovery, messages, events, files, stored values, revocation, refusals.",
        discussion: """
            Every node and every command is a process of its own with a home of its own in a temporary folder, on \
            loopback addresses, where they find each other. A step counts when the receiving side's own output shows it. \
            As root on Linux, it also shows the private exit, in network namespaces of its own: a token is redeemed for a \
            tunnel, and a page comes through it. That part needs /dev/net/tun, ip and nft, and is skipped without them. \
            Takes half a minute, and leaves nothing behind.
            """
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "runar-demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
        ).path
        do {
            try SystemFileSystem().makeDirectory(folder, mode: 0o700)
        } catch {
            let advice = "name another directory for temporary files with TMPDIR"
            throw CommandFailure(error).adding(advice)
        }
        let screen = DemoScreen(isSilent: output.json)
        let stage = try DemoStage(folder: folder, screen: screen)
        let report = try await Interruption.run { await stage.perform() }
        await stage.cleanUp()
        if report?.ok != true, !output.json { stage.showLogs() }
        try? FileManager.default.removeItem(atPath: folder)  // the system empties the folder for temporary files
        guard let report else {
            throw CommandFailure.interrupted("the demo was interrupted; nothing of it is left")
        }
        if output.json {
            try Output.json(report)
        } else {
            try Output.line(report.ok ? "every step was confirmed by its receiver" : "the demo FAILED: see above")
            if report.ok { for line in Self.nextSteps { try Output.line(line) } }
        }
        if !report.ok { throw ExitCode(ExitStatus.software.rawValue) }
    }

    /// The place of the command, and the first commands with it.
    private static var nextSteps: [String] {
        let folder = Bundle.main.executablePath.map { FilePath.directory(of: $0) }
        let path = folder.map { ["  export PATH=\"\($0):$PATH\""] } ?? []
        return ["", "Next, make a network of your own:"] + path + [
            "  runar init",
            "  runar network create Home",
            "  runar network invite      # run `runar join` on the other device, and paste the link",
            "docs/tour.md shows the rest in five minutes.",
        ]
    }
}
