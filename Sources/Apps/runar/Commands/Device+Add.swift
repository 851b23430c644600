internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService

extension Device {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "On a device with the root key: take a new device's request, and answer it.",
            discussion: """
                Asks whether the new device shows the same code, then prints the answer: a certificate of your own \
                authority and a membership in each network that this device owns, or in those that --network names. \
                With --admin the new device gets their signing keys, too, so that it can admit and revoke; the root key \
                never leaves this device. That cannot be taken back.
                """
        )

        @Argument(help: "The request, or a file with it; nothing or - reads standard input.", completion: .file())
        var request: [String] = []
        @Option(
            help: ArgumentHelp("Read the request from a picture of the new device's screen.", valueName: "file"),
            completion: .file()
        )
        var picture: [String] = []
        @Option(help: ArgumentHelp("A network to be a member of; may be given several times.", valueName: "network"))
        var network: [String] = []
        @Flag(help: "No network: a certificate alone.")
        var noNetwork = false
        @Flag(help: "Give the networks' signing keys, too.")
        var admin = false
        @Option(
            help: ArgumentHelp("For how long the device is a member: 30d, 12h ..., or never.", valueName: "duration")
        )
        var expires = "30d"
        @Option(help: ArgumentHelp("What to call the device from now on, as in phone.", valueName: "name"))
        var label: String?
        @Flag(help: "Answer without a question about the code.")
        var yes = false
        @Flag(help: "Show the answer as a QR code, too, if the window has room.")
        var qr = false
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard !noNetwork || network.isEmpty && !admin else {
                throw ValidationError("--no-network goes with neither --network nor --admin.")
            }
        }

        func run() async throws {
            // Invalid arguments are reported before the first question.
            let end = try Network.Issue.expiration(of: expires, from: 0)
            let text = try Device.text(
                request,
                images: picture,
                asking: "Paste the request here:",
                until: { (try? Device.request(in: $0)) != nil }  // only whether
            )
            let asked = try Device.request(in: text)
            if !yes { try await Device.confirm(asked.code, "Does the new device's screen show the code") }
            let terms = DeviceForm(
                request: asked.link,
                networks: noNetwork ? [] : network.isEmpty ? nil : network,
                lifeSeconds: end,
                label: label,
                admin: admin
            )
            let report = try await Session.with(home) { try await $0.send(Operations.addDevice(terms)) }
            guard !home.output.json else { return try Output.json(report) }
            if qr, Output.isTerminal { try TerminalCode.showIfRoom(report.text) }
            try Output.report(report, asJSON: false)
            Output.note(report.summary)
            Output.note("Give this answer to the new device, where `runar device setup` waits for it.")
            Output.note("Its screen must show this code, too:  \(report.code)")
        }
    }
}
