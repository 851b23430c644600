internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

/// The account of this device's person at an identity server.
struct Account: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Register at an identity server, and sign in with a passkey.",
        discussion: """
            Networks and the circle need no account. An account gives your profile a handle, such as ada.example.org, \
            that the server vouches for. The passkey is made and used on a page of the server in a browser, on this \
            machine or another one; the page must show the same six digits as the command.
            """,
        subcommands: [
            Register.self, Login.self, State.self, Check.self, Passkeys.self, Reconnect.self, Logout.self, Remove.self,
        ],
        defaultSubcommand: State.self
    )
}

extension Account {
    struct State: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the account of this device, and the step that a registration has reached."
        )

        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<AccountStateReport> { Operations.account() }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check that profile, DID, token, handle and the three streams are on this device.",
            discussion: "The exit status is 66 if one of them is missing."
        )

        @OptionGroup var home: HomeOptions

        func run() async throws {
            let state = try await Session.answer(to: Operations.account(), home, onNetwork: false)
            let report = AccountCheckReport(state)
            try Output.report(report, asJSON: home.output.json)
            guard !report.complete else { return }
            throw ExitCode(ExitStatus.noInput.rawValue)
        }
    }

    struct Passkeys: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "passkeys",
            abstract: "List the passkeys of the account.",
            discussion: "They are added and removed on the page of the server, which the last line names."
        )

        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<AccountPasskeysReport> { Operations.accountPasskeys() }
    }

    struct Logout: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "logout",
            abstract: "End the session: remove the token from this device, and tell the server."
        )

        @Flag(help: "End all sessions of the account, those of other devices too.")
        var everywhere = false
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<LogoutReport> { Operations.logout(LogoutForm(everywhere: everywhere)) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete the account: on the page of the server, and then from this device.",
            discussion: """
                A passkey confirms the deletion, so it is done on the page, whose address is shown first. After it the \
                token, the names and the key of the DID are removed from this device. The person, the circle and the \
                messages stay.
                """
        )

        @Flag(help: "Keep the key of the DID on this device.")
        var keepKey = false
        @Flag(help: "Remove the account from this device alone, without asking whether the server has deleted it.")
        var local = false
        @Flag(help: "Do not ask.")
        var yes = false
        @Flag(help: "Print the address of the page instead of starting a browser.")
        var noBrowser = false
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let report = try await Session.with(home) { session in
                try await confirm(session.send(Operations.account()))
                let form = ForgetAccountForm(key: !keepKey, local: local)
                do {
                    return try await session.send(Operations.forgetAccount(form))
                } catch let failure as CommandFailure where RegistrationDialogue.isOffline(failure) {
                    throw failure.adding("--local removes the account from this device alone")
                }
            }
            try Output.report(report, asJSON: home.output.json)
        }

        /// Shows the page that deletes the account, and asks the person.
        private func confirm(_ state: AccountStateReport) async throws {
            if !local, let page = state.page, state.handle != nil {
                Output.note("delete the account there: \(page)")
                if !noBrowser, !home.output.json, !yes { await PageOpener.open(page) }
            }
            guard !yes else { return }
            try await Prompt.requireConsent(
                "This removes the account\(keepKey ? "" : " and the key of its DID") from this device.",
                with: "delete",
                otherwise: "nothing was removed"
            )
        }
    }
}
