internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// Opens the console in a browser.
struct OpenConsole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open the web console of the running node in a browser.",
        discussion: """
            The browser is signed in by a secret that holds for a minute and for one browser; it stays signed in for \
            thirty days. With --print the address is printed instead, for a browser that this command cannot start: keep \
            it to yourself. With --lan a phone or tablet of the local network is signed in by a QR code; its browser warns, \
            because only this device vouches for the certificate: compare the fingerprint. For a node on another machine forward its port first: ssh -L 4280:localhost:4280 HOST.
            """
    )

    @Flag(name: .customLong("print"), help: "Print the address with its secret instead of starting a browser.")
    var isPrinting = false
    @Flag(help: "Show a QR code for a device of the local network, and wait until it is used or a minute is over.")
    var lan = false
    @OptionGroup var home: HomeOptions

    func validate() throws {
        guard !lan || !isPrinting else { throw ValidationError("Give --lan or --print, not both.") }
    }

    func run() async throws {
        let place = try home.place()
        guard let client = NodeClient(home: place) else {
            _ = try NodeDirectory.existing(place)
            throw CommandFailure("not-running", .unavailable, "no node runs in \(place): start it with `runar up`")
        }
        if lan { return try await Self.pair(client, asJSON: home.output.json) }
        if isPrinting {
            let report = try await client.perform(Operations.consoleAddress())
            if Output.isTerminal { Output.note("for one browser, within a minute:") }
            return try Output.report(report, asJSON: home.output.json)
        }
        let report = try await Self.open(client)
        try Output.report(report, asJSON: home.output.json)
    }

    /// Shows the link for a device, and waits for its sign-in.
    private static func pair(_ client: NodeClient, asJSON: Bool) async throws {
        let report = try await client.perform(Operations.pairConsole(PairingForm())) { update in
            guard case .pairing(let report) = update else { return }
            if asJSON { return try Output.json(report) }
            try TerminalCode.showIfRoom(report.link)
            try Output.line(report.link)
            Output.note("for one browser, within a minute. It will warn: compare the fingerprint of the certificate.")
            try Output.line("fingerprint \(report.fingerprint)")
        }
        try Output.report(report, asJSON: asJSON)
    }

    /// Starts a browser with the file that the node reports, and waits until it has signed in.
    private static func open(_ client: NodeClient) async throws -> ConsoleReport {
        let (links, continuation) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: ConsoleReport?.self) { group in
            group.addTask {
                try await client.perform(Operations.openConsole()) { update in
                    if case .consoleLink(let link) = update { continuation.yield(link.file) }
                }
            }
            group.addTask {
                for await link in links { try await start(withFile: link) }
                return nil
            }
            defer {
                continuation.finish()
                group.cancelAll()
            }
            while let report = try await group.next() {
                if let report { return report }
            }
            throw CancellationError()
        }
    }

    private static func start(withFile path: String) async throws {
        let null = DescriptorOwner(Posix.openLog("/dev/null"))
        // Some openers end at once and some with the browser; only a failure counts. A system may lack both an opener and
        // the program that looks for it.
        let words = [BrowserOpener.name, path]
        let opener = try? ChildProcess("/usr/bin/env", words, sink: .file(null.descriptor))  // see above
        guard try await opener?.waitForExit() != 0 else { return }
        // The node removes it once it notices that this command has disconnected, which is after this command has ended.
        try? SystemFileSystem().remove(path)  // then the node does
        throw CommandFailure(
            "no-browser",
            .unavailable,
            "\(BrowserOpener.name) could not start a browser: run `runar console --print` and open what it prints"
        )
    }
}
