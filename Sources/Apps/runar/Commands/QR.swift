internal import ArgumentParser
internal import NodeModel
internal import NodeService

/// QR codes: shown and read.
struct QR: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr",
        abstract: "Show a text as a QR code, or read the codes in a picture.",
        subcommands: [Show.self, Read.self]
    )
}
