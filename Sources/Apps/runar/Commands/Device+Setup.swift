internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

extension Device {
    struct Setup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "setup",
            abstract: "On the new device: show a request, and take the answer.",
            discussion: """
                Makes the home if there is none, as `runar init` does. Then shows the request as a QR code and as a \
                link, waits for the answer to be pasted, and accepts it when you confirm that both screens show the \
                same code. With --show it only shows the request, which stays the same until it is answered; give the \
                answer later as an argument, a file, or a picture of the other screen.
                """
        )

        @Argument(help: "The answer, or a file with it; - reads standard input.", completion: .file())
        var answer: [String] = []
        @Option(
            help: ArgumentHelp("Read the answer from a picture of the other screen instead.", valueName: "file"),
            completion: .file()
        )
        var picture: [String] = []
        @Flag(help: "Show the request and end.")
        var show = false
        @Flag(help: "Show the link alone, without the code.")
        var noQr = false
        @Flag(help: "Take the answer without a question about its code.")
        var yes = false
        @Flag(help: "If there is no home yet: open its vault with a key file instead of a passphrase.")
        var noPassphrase = false
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard !show || answer.isEmpty && picture.isEmpty else {
                throw ValidationError("Give --show to see the request, or an answer, not both.")
            }
        }

        func run() async throws {
            try makeHomeIfMissing()
            let report = try await Session.with(home) { session -> DeviceSetUpReport? in
                if answer.isEmpty, picture.isEmpty {
                    try display(try await session.send(Operations.deviceRequest()))
                    if show { return nil }
                }
                let text = try Device.text(
                    answer,
                    images: picture,
                    asking: "Paste the answer here:",
                    until: { (try? Device.answer(in: $0)) != nil }  // only whether
                )
                let answer = try Device.answer(in: text)
                if !yes { try await Device.confirm(answer.code, "Does the other device's screen show the code") }
                return try await session.send(Operations.setUpDevice(TextForm(answer.text)))
            }
            if let report { try Output.report(report, asJSON: home.output.json) }
        }

        private func makeHomeIfMissing() throws {
            let place = try home.place()
            guard try !NodeDirectory.isMade(at: place) else { return }
            let made = try Init.makeHome(at: place, settings: home.settings(), hasKeyFile: noPassphrase)
            Output.note("made a home for this device in \(made.home)")
        }

        private func display(_ report: DeviceRequestReport) throws {
            if home.output.json { return try Output.json(report) }
            if !noQr, Output.isTerminal { try TerminalCode.showIfRoom(report.link.uppercased()) }
            try Output.raw(report.link + "\n")
            Output.note(
                "Scan this with the device that has your root key, or paste the link into `runar device add` there."
            )
            Output.note("Its screen must show this code, too:  \(report.code)")
        }
    }
}
