internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

// Streams: groups, and the thoughts of one person for many.

extension Circle {
    struct Stream: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stream",
            abstract: "Make groups, invite people to them, and join the groups of others.",
            discussion: """
                A stream has a creator, who alone invites and removes people; each of them joins by consent. `runar chat`, \
                `runar circle say` and `runar circle history` take the name of a stream as that of a person.
                """,
            subcommands: [Make.self, Invite.self, Remove.self, Join.self, Leave.self, Delete.self]
        )
    }
}

extension Circle.Stream {
    struct Make: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "make",
            abstract: "Make a stream without members.",
            discussion: """
                Every member writes, and the members see each other's cards. With `--only-me` you alone write, and the \
                members do not learn of each other.
                """
        )

        @Argument(help: "The name, at most 128 bytes.")
        var name: String
        @Option(help: "A few sentences about the stream.")
        var blurb: String?
        @Flag(name: .customLong("only-me"), help: "You alone write.")
        var isCreatorAlone = false
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<StreamReport> {
            Operations.makeStream(StreamForm(name: name, blurb: blurb, isCreatorAlone: isCreatorAlone))
        }
    }

    struct Invite: StreamMembersCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite",
            abstract: "Invite people you trust to a stream that you made.",
            discussion: "A person is a member after joining, and sees what is said from then on."
        )
        static let outcome = "invited"

        @OptionGroup var stream: StreamOptions
        @Argument(help: "The people: names, ids or their beginnings.")
        var people: [String]
        @OptionGroup var home: HomeOptions

        func request(_ person: PersonName) -> APIRequest<StreamReport> {
            Operations.inviteToStream(stream.name, person)
        }
    }

    struct Remove: StreamMembersCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove people from a stream that you made.",
            discussion: "They get nothing from then on, and keep the thoughts so far."
        )
        static let outcome = "removed"

        @OptionGroup var stream: StreamOptions
        @Argument(help: "The people: names, ids or their beginnings.")
        var people: [String]
        @OptionGroup var home: HomeOptions

        func request(_ person: PersonName) -> APIRequest<StreamReport> {
            Operations.removeFromStream(stream.name, person)
        }
    }

    struct Join: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "join",
            abstract: "Join a stream to which you are invited.",
            discussion: "Where every member writes, joining is also your consent to trust the members."
        )

        @OptionGroup var stream: StreamOptions
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<StreamReport> { Operations.joinStream(stream.name) }
    }

    struct Leave: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave",
            abstract: "Leave a stream, or decline an invitation to it.",
            discussion: "Its thoughts stay on this device. The creator of a stream deletes it instead."
        )

        @OptionGroup var stream: StreamOptions
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<StreamReport> { Operations.leaveStream(stream.name) }
    }

    struct Delete: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a stream with its thoughts, after a question that lists what is lost.",
            discussion: "The members of your own stream are removed; a stream that another person made you leave."
        )

        @OptionGroup var stream: StreamOptions
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var home: HomeOptions

        func prepare() async throws {
            if yes { return }
            Output.note(
                """
                The thoughts of the stream are deleted on this device. If you made the stream, its members are removed \
                and keep their copies.
                """
            )
            try await Prompt.requireConsent("", with: "delete", otherwise: "nothing was changed")
        }

        func request() -> APIRequest<DoneReport> { Operations.deleteStream(stream.name) }
    }
}

/// A command that changes the membership of several people in a stream, and prints the stream after the last change.
protocol StreamMembersCommand: AsyncParsableCommand {
    /// The word for a change that was made.
    static var outcome: String { get }

    var people: [String] { get }
    var home: HomeOptions { get }

    func request(_ person: PersonName) -> APIRequest<StreamReport>
}

extension StreamMembersCommand {
    func run() async throws {
        var report: StreamReport?
        try await Session.with(home) { session in
            for (position, person) in people.enumerated() {
                do {
                    report = try await session.send(request(PersonName(person)))
                } catch let failure as CommandFailure where position > 0 {
                    let done = "\(Self.outcome) before: \(people.prefix(position).joined(separator: ", "))"
                    throw CommandFailure(failure.code, failure.status, "\(failure.message); \(done)")
                }
            }
        }
        if let report { try Output.report(report, asJSON: home.output.json) }
    }
}

/// A stream of the circle.
struct StreamOptions: ParsableArguments {
    @Argument(help: "The stream: name, id or its beginning.")
    var stream: String

    var name: StreamName { StreamName(stream) }
}
