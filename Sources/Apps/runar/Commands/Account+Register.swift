internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

extension Account {
    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register",
            abstract: "Make an account with a handle and a passkey.",
            discussion: """
                Shows the agreement of the server, checks the handle, proves the key of your DID, and opens the page \
                on which the passkey is made. Without a server you get a local profile, and `runar account reconnect` \
                continues. With --json each step is an object on a line, the last one the account; the version of the \
                agreement must be given then.
                """
        )

        @Argument(help: "The handle: 3 to 18 characters of a to z, digits and hyphens.")
        var name: String
        @Option(help: "The name on your profile, if it is not the present one or the handle.")
        var displayName: String?
        @OptionGroup var server: AccountServerOptions
        @OptionGroup var page: AccountPageOptions
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let dialogue = RegistrationDialogue(asJSON: home.output.json, opensBrowser: page.opensBrowser)
            let report = try await Session.with(home) { session in
                try await dialogue.accepting(page.acceptAgreement, at: server.server, session) { agreement in
                    try await dialogue.retryingHandle(name) { handle in
                        let form = RegisterAccountForm(
                            handle: handle,
                            name: displayName,
                            agreement: agreement,
                            server: server.server
                        )
                        return try await dialogue.runOrWorkOffline(Operations.registerAccount(form), session)
                    }
                }
            }
            try dialogue.show(report)
        }
    }

    struct Login: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "login",
            abstract: "Sign in to your account with its passkey.",
            discussion:
                "Another device of yours gets the handle and the DID of the account so, and keeps no key of the DID."
        )

        @Argument(help: "The handle; without it you choose the passkey on the page.")
        var name: String?
        @OptionGroup var server: AccountServerOptions
        @OptionGroup var page: AccountPageOptions
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let dialogue = RegistrationDialogue(asJSON: home.output.json, opensBrowser: page.opensBrowser)
            let report = try await Session.with(home) { session in
                try await dialogue.accepting(page.acceptAgreement, at: server.server, session) { agreement in
                    let form = LoginForm(handle: name, agreement: agreement, server: server.server)
                    return try await dialogue.run(Operations.login(form), session)
                }
            }
            try dialogue.show(report)
        }
    }

    struct Reconnect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reconnect",
            abstract: "Continue a registration that stopped: without a server, at a failure, or at a page."
        )

        @OptionGroup var page: AccountPageOptions
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let dialogue = RegistrationDialogue(asJSON: home.output.json, opensBrowser: page.opensBrowser)
            let report = try await Session.with(home) { session in
                try await dialogue.accepting(page.acceptAgreement, at: nil, session) { agreement in
                    try await dialogue.run(Operations.reconnectAccount(ReconnectForm(agreement: agreement)), session)
                }
            }
            try dialogue.show(report)
        }
    }
}

/// The identity server of a command.
struct AccountServerOptions: ParsableArguments {
    @Option(
        name: [.customLong("server"), .customLong("identity-server")],
        help: ArgumentHelp(
            "The identity server; it stays in the settings once it has answered (RUNAR_IDENTITY_SERVER).",
            valueName: "url"
        )
    )
    var server: String?
}

/// The options of the agreement and of the page.
struct AccountPageOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Accept this version of the agreement without a question.", valueName: "version"))
    var acceptAgreement: String?
    @Flag(help: "Print the address of the page instead of starting a browser.")
    var noBrowser = false

    var opensBrowser: Bool { !noBrowser }
}
