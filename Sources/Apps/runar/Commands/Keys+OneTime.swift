internal import ArgumentParser
internal import CommandKit
internal import NodeModel
internal import NodeService
internal import QRCode

// One-time keys: each sealed message has a key of its own, which is erased when the message is opened.
extension Keys {
    struct Exchange: NetworkCommand {
        static let configuration = CommandConfiguration(
            commandName: "exchange",
            abstract: "Exchange one-time keys with a peer, and show the safety number.",
            discussion: """
                Each device gets keys with which it seals messages to the other one (`runar send PEER TEXT --sealed`). \
                Compare the safety number with the one on the peer's screen, and confirm it with `runar keys verify`. \
                Few keys that are left are replaced by themselves while both devices are connected.
                """
        )

        @Argument(help: "The peer: id, its beginning, or label.")
        var peer: String
        @Flag(name: .customLong("qr"), help: "Show the safety number as a QR code, too.")
        var showsCode = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var node: NodeOptions

        func prepare() {
            if !home.output.json { Output.note("Keys are generated and exchanged; this takes a few seconds.") }
        }

        func request() -> APIRequest<KeyRelationshipReport> { Operations.exchangeKeys(PeerName(peer)) }

        func show(_ report: KeyRelationshipReport) throws {
            try Output.report(report, asJSON: home.output.json)
            if showsCode, !home.output.json, let number = report.safetyNumber { try TerminalCode.showIfRoom(number) }
        }
    }

    struct Verify: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Confirm the safety number that the peer's screen shows.",
            discussion: "The number has 60 digits. If it differs, a third device may be between the two."
        )

        @Argument(help: "The peer: id, its beginning, or label.")
        var peer: String
        @Argument(help: "The twelve groups of digits, as the peer's device shows them.")
        var digits: [String] = []
        @Option(
            help: ArgumentHelp("Read the number from a picture of the peer's screen instead.", valueName: "file"),
            completion: .file()
        )
        var picture: String?
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard digits.isEmpty != (picture == nil) else {
                throw ValidationError("Give the digits, or a picture of the code on the peer's screen.")
            }
        }

        func request() throws -> APIRequest<KeyRelationshipReport> {
            let texts = try picture.map { try ImageCodes.readings(in: $0).compactMap(\.text) } ?? [digits.joined()]
            return Operations.verifyKeys(PeerName(peer), TextForm(texts.joined(separator: "\n")))
        }
    }

    struct Supply: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "supply",
            abstract: "Show how many one-time keys are left for each peer."
        )

        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<KeyRelationshipsReport> { Operations.keyRelationships() }
    }

    struct Forget: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Delete the one-time keys of a peer.",
            discussion: "Sealed messages from the peer that were not opened cannot be opened afterwards."
        )

        @Argument(help: "The peer: id, its beginning, or label.")
        var peer: String
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<DoneReport> { Operations.removeKeys(PeerName(peer)) }
    }
}
