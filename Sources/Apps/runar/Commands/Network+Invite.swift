internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

extension Network {
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite",
            abstract: "Invite a device: show a code that makes it a member with one scan.",
            discussion: """
                Shows the invitation as a QR code and as a link, waits until a device uses it, asks whether the six \
                digits on both screens are the same, and admits it. It works once, for ten minutes, and is a secret: \
                give it only to the other device, where `runar join` takes it. Control-C withdraws it.
                """
        )

        @Argument(help: "The network; not needed if this device owns one only.")
        var network: String?
        @Option(
            help: ArgumentHelp("For how long the device is a member: 30d, 12h ..., or never.", valueName: "duration")
        )
        var expires = "30d"
        @Option(help: ArgumentHelp("What to call the device from now on, as in phone.", valueName: "name"))
        var label: String?
        @Option(
            help: ArgumentHelp(
                "Where the device reaches this one, if not at its own addresses; may be given several times.",
                valueName: "ip:port"
            )
        )
        var address: [String] = []
        @Flag(help: "Admit the first device that uses it without a question.")
        var preallow = false
        @Flag(help: "Show the link alone, without the code.")
        var noQr = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var node: NodeOptions

        func run() async throws {
            guard preallow || Prompt.isPossible else {
                throw CommandFailure(
                    "no-terminal",
                    .notPermitted,
                    "this asks a person whether the digits are the same, and there is no terminal: use --preallow to admit"
                        + " the first device"
                )
            }
            let end = try Issue.expiration(of: expires, from: 0)
            let terms = InvitationForm(lifeSeconds: end, label: label, addresses: address, preallowed: preallow)
            let dialogue = InvitationDialogue(asJSON: home.output.json, showsCode: !noQr && Output.isTerminal)
            let report = try await Interruption.run {
                try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                    let request = Operations.inviteDevice(network.map { NetworkName($0) }, terms)
                    return try await dialogue.run(request, session)
                }
            }
            guard let report else {
                throw CommandFailure.interrupted("the invitation was withdrawn: no device can join with it")
            }
            try Output.report(report, asJSON: home.output.json)
        }
    }
}
