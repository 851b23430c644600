internal import ArgumentParser
internal import CommandKit
internal import NodeModel
internal import NodeService

// The members that hold a person's mail.

extension Circle {
    struct Homes: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "homes",
            abstract: "List or choose the members that hold your mail while your devices are offline.",
            discussion: """
                Choose up to four devices that are always on, in a network that you share with your people. A device \
                of your own may be one of them; mail for that device itself is held by the others, or by the nearest \
                members. The people you trust receive your new card.
                """
        )

        @Argument(help: "The members: ids, their beginnings, or labels. Without any the homes are listed.")
        var peers: [String] = []
        @Flag(name: .customLong("none"), help: "Choose no home: the nearest members hold your mail again.")
        var choosesNone = false
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard !choosesNone || peers.isEmpty else { throw ValidationError("Give members, or --none, not both.") }
        }

        func request() -> APIRequest<CircleReport> {
            peers.isEmpty && !choosesNone
                ? Operations.circle() : Operations.setHomes(HomesForm(peers.map { PeerName($0) }))
        }

        func show(_ report: CircleReport) throws { try Output.report(HomesReport(report), asJSON: home.output.json) }
    }
}
