internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import QRCode

/// The people whom this device's person trusts.
struct Circle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "circle",
        abstract: "Trust people, and send them thoughts that wait while they are offline.",
        discussion: """
            Begin with `runar circle profile NAME`, and ask a person with `runar circle add`. Trust needs the consent \
            of both. Your thoughts are sealed for each device of the person, and members of your network hold them \
            until the device connects. `runar chat` opens a conversation.
            """,
        subcommands: [
            List.self, Profile.self, Card.self, Add.self, Accept.self, Decline.self, Verify.self, Revoke.self,
            Say.self, Send.self, Save.self, History.self, Follow.self,
            Stream.self, Device.self, Homes.self, Block.self, Unblock.self,
        ],
        defaultSubcommand: List.self
    )
}

extension Circle {
    struct List: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the people of your circle, with the safety numbers and the keys that are left."
        )

        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<CircleReport> { Operations.circle() }
    }

    struct Profile: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "profile",
            abstract: "Set what other people read about you.",
            discussion: "The people you trust receive the new profile."
        )

        @Argument(help: "Your name, at most 128 bytes.")
        var name: String
        @Option(help: "A few sentences about you.")
        var blurb: String?
        @Option(help: "Your decentralised identifier (DID), or \"\" to remove it; without this option it stays.")
        var did: String?
        @Option(help: "Your handle with its domain, or \"\" to remove it; without this option it stays.")
        var handle: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var node: NodeOptions

        func validate() throws {
            guard !name.allSatisfy(\.isWhitespace) else { throw ValidationError("Give a name that other people read.") }
        }

        func run() async throws {
            let request = Operations.setProfile(ProfileForm(name: name, blurb: blurb, did: did, handle: handle))
            let report = try await Session.with(home, node) { try await $0.send(request) }
            try Output.report(report, asJSON: home.output.json)
        }
    }

    struct Card: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "card",
            abstract: "Print your card as a text, with which other people add you.",
            discussion: "The card is not secret: it names your devices and has your signature."
        )

        @Flag(name: .customLong("qr"), help: "Show it as a QR code, too.")
        var showsCode = false
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<CardReport> { Operations.ownCard() }

        func show(_ report: CardReport) throws {
            try Output.report(report, asJSON: home.output.json)
            if showsCode, !home.output.json { try TerminalCode.showIfRoom(report.text) }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Ask a person for trust: by a device, by a card, or by a picture of its QR code.",
            discussion: """
                A device must be connected. With a card (`runar circle card` on the person's device) the request waits \
                until one of the person's devices comes.
                """
        )

        @Argument(help: "A device (id, its beginning, or label), or the text of a card.")
        var person: String?
        @Option(help: ArgumentHelp("Read the card from a picture of its code.", valueName: "file"), completion: .file())
        var picture: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var node: NodeOptions

        func validate() throws {
            guard (person == nil) != (picture == nil) else {
                throw ValidationError("Give a device or the text of a card, or a picture of the card's code.")
            }
        }

        func run() async throws {
            let asJSON = home.output.json
            if let person, !CardText.isCard(person) {
                let request = Operations.invitePerson(PeerName(person))
                let report = try await Session.answer(to: request, home, node, onNetwork: true)
                return try Output.report(report, asJSON: asJSON)
            }
            let request = Operations.addPerson(TextForm(try person ?? card()))
            let report = try await Session.answer(to: request, home, node, onNetwork: true)
            try Output.report(report, asJSON: asJSON)
        }

        private func card() throws -> String {
            let texts = try picture.map { try ImageCodes.readings(in: $0).compactMap(\.text) } ?? []
            if let card = texts.first(where: CardText.isCard) { return card }
            throw CommandFailure(
                "no-card",
                .data,
                "the picture has no code of a card: photograph the one that `runar circle card --qr` shows"
            )
        }
    }

    struct Accept: NetworkCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Accept the request of a person, or ask a person again after you revoked trust."
        )

        @OptionGroup var person: PersonOptions
        @OptionGroup var node: NodeOptions

        var home: HomeOptions { person.home }

        func request() -> APIRequest<PersonReport> { Operations.accept(person.name) }
    }

    struct Decline: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "decline",
            abstract: "Decline the request of a person."
        )

        @Flag(help: "Refuse further requests of the person's devices, until you ask one of them.")
        var ignoreDevices = false
        @OptionGroup var person: PersonOptions

        var home: HomeOptions { person.home }

        func request() -> APIRequest<DoneReport> {
            Operations.decline(person.name, DeclineForm(ignoreDevices: ignoreDevices))
        }
    }

    struct Verify: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Confirm the safety number that the person's screen shows.",
            discussion: "The number has 60 digits. If it differs, a third person may be between the two of you."
        )

        @Argument(help: "The person: name, id or its beginning.")
        var person: String
        @Argument(help: "The twelve groups of digits, as the person's device shows them.")
        var digits: [String] = []
        @Option(
            help: ArgumentHelp("Read the number from a picture of the person's screen.", valueName: "file"),
            completion: .file()
        )
        var picture: String?
        @OptionGroup var home: HomeOptions

        func validate() throws {
            guard digits.isEmpty != (picture == nil) else {
                throw ValidationError("Give the digits, or a picture of the code on the person's screen.")
            }
        }

        func request() throws -> APIRequest<PersonReport> {
            let texts = try picture.map { try ImageCodes.readings(in: $0).compactMap(\.text) } ?? [digits.joined()]
            return Operations.verify(PersonName(person), TextForm(texts.joined(separator: "\n")))
        }
    }

    struct Revoke: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Revoke the trust in a person, after a question that lists what is lost.",
            discussion: """
                Trust returns if you accept the person again. A person who still trusts you is not asked: their device \
                answers by itself.
                """
        )

        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var person: PersonOptions

        var home: HomeOptions { person.home }

        func prepare() async throws {
            if yes { return }
            Output.note(
                """
                The connections to the person's devices are closed and refused from now on, except to renew their \
                membership of your networks. The one-time keys are deleted, so what was not opened yet can never be \
                opened. What waits to be delivered is dropped.
                """
            )
            guard try await Prompt.confirms("", with: "revoke", otherwise: "add --yes") else {
                throw CommandFailure("not-confirmed", .notPermitted, "nothing was changed")
            }
        }

        func request() -> APIRequest<PersonReport> { Operations.revokeTrust(person.name) }
    }

    struct Say: SayingCommand {
        static let configuration = CommandConfiguration(
            commandName: "say",
            abstract: "Say something to a person or in a stream.",
            discussion: "It is stored first, and delivered while a node runs here (`runar up`)."
        )

        @Argument(help: "The person or the stream: name, id or its beginning.")
        var conversation: String
        @Argument(help: "The text.")
        var text: String
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<ThoughtReport> {
            Operations.sendThought(ConversationName(conversation), ThoughtForm(text))
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Print the conversation with a person or the thoughts of a stream, the newest last.",
            discussion: "Content other than text is listed with a number, for `runar circle save`."
        )

        @Option(help: ArgumentHelp("The most thoughts, 1 to 1000.", valueName: "count"))
        var limit = 50
        @Option(help: "Only those that contain this text.")
        var search: String?
        @OptionGroup var conversation: ConversationOptions

        func validate() throws {
            guard 1...1_000 ~= limit else { throw ValidationError("--limit is from 1 to 1000.") }
        }

        func run() async throws {
            let report = try await Session.with(conversation.home) { session in
                try await session.thoughts(in: conversation.name, limit: limit, search: search)
            }
            try Output.report(report, asJSON: conversation.home.output.json)
        }
    }
}

extension Circle {
    struct Follow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "follow",
            abstract: "Print each thought of a conversation or a stream, and each step of a delivery.",
            discussion: "For programs; people use `runar chat`."
        )

        @OptionGroup var conversation: ConversationOptions
        @OptionGroup var node: NodeOptions

        func run() async throws {
            let (request, asJSON) = (Operations.followThoughts(conversation.name), conversation.home.output.json)
            let (home, node) = (conversation.home, node)
            _ = try await Interruption.run {
                try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                    try await session.send(request) { update in
                        switch update {
                        case .circle(let report): if asJSON { try Output.json(report) }
                        case .thought(let report): try Output.report(report, asJSON: asJSON)
                        default: break
                        }
                    }
                }
            }
        }
    }
}

/// A person of the circle.
struct PersonOptions: ParsableArguments {
    @Argument(help: "The person: name, id or its beginning.")
    var person: String
    @OptionGroup var home: HomeOptions

    var name: PersonName { PersonName(person) }
}

/// A person of the circle, or a stream.
struct ConversationOptions: ParsableArguments {
    @Argument(help: "The person or the stream: name, id or its beginning.")
    var conversation: String
    @OptionGroup var home: HomeOptions

    var name: ConversationName { ConversationName(conversation) }
}
