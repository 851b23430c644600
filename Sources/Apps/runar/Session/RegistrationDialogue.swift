internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService

/// Shows the agreement and the page of a registration or a sign-in, and asks the person.
struct RegistrationDialogue: Sendable {
    let asJSON: Bool
    let opensBrowser: Bool

    /// Performs a registration or a sign-in with the version of the agreement that the person accepts.
    ///
    /// It is nil for a registration that has passed that step. If the server has a new agreement since then, the person
    /// is asked about that one.
    ///
    /// - Throws: ``CommandFailure``; `CancellationError`.
    func accepting<Answer>(
        _ version: String?,
        at server: String?,
        _ session: Session,
        _ body: (String?) async throws -> Answer
    ) async throws -> Answer {
        if let version { return try await body(version) }
        if try await session.send(Operations.account()).needsAgreement {
            return try await body(ask(at: server, session))
        }
        do {
            return try await body(nil)
        } catch let failure as CommandFailure where failure.code == "agreement-changed" {
            return try await body(ask(at: server, session))
        }
    }

    /// Shows the agreement, and returns its version if the person accepts it.
    ///
    /// It is nil without a server, which the registration reports.
    private func ask(at server: String?, _ session: Session) async throws -> String? {
        let report: AgreementReport
        do {
            report = try await session.send(Operations.agreement(IdentityServerQuery(server: server)))
        } catch let failure as CommandFailure where Self.isOffline(failure) {
            return nil
        }
        let advice = "read it, and give --accept-agreement \(report.version)"
        for line in report.lines { Output.note(line) }
        guard !asJSON, Prompt.isPossible else {
            throw CommandFailure("agreement-not-accepted", .notPermitted, "the agreement is not accepted: \(advice)")
        }
        guard try await Prompt.accepts("Do you accept this agreement?", otherwise: advice) else {
            throw CommandFailure(
                "agreement-not-accepted",
                .notPermitted,
                "the agreement was not accepted; nothing was done"
            )
        }
        return report.version
    }

    /// Asks for another handle after a taken or unfit one, if there is a person to ask.
    func retryingHandle<Answer>(_ first: String, _ body: (String) async throws -> Answer) async throws -> Answer {
        var handle = first
        while true {
            do {
                return try await body(handle)
            } catch let failure as CommandFailure where Self.isOfHandle(failure) && !asJSON && Prompt.isPossible {
                Output.note("error: \(failure.message)")
                handle = try Prompt.text("Another handle: ", otherwise: "give another one")
            }
        }
    }

    private static func isOfHandle(_ failure: CommandFailure) -> Bool {
        ["handle-taken", "bad-handle", "handle-reserved"].contains(failure.code)
    }

    /// Sends a registration, and adds to a failure without a server that the person has a local profile.
    func runOrWorkOffline(
        _ request: APIRequest<AccountStateReport>,
        _ session: Session
    ) async throws -> AccountStateReport {
        do {
            return try await run(request, session)
        } catch let failure as CommandFailure where Self.isOffline(failure) {
            throw failure.adding("meanwhile you have a local profile: repeat this command to continue")
        }
    }

    /// Whether no server could be reached.
    static func isOffline(_ failure: CommandFailure) -> Bool {
        failure.code.hasPrefix("identity-server-") || failure.code == "no-identity-server"
    }

    /// Sends the request, and shows each step.
    func run(_ request: APIRequest<AccountStateReport>, _ session: Session) async throws -> AccountStateReport {
        let (pages, page) = AsyncStream.makeStream(of: String.self)
        return try await withThrowingTaskGroup(of: AccountStateReport?.self) { group in
            group.addTask {
                defer { page.finish() }
                do {
                    return try await session.send(request) { update in
                        guard case .account(let step) = update else { return }
                        if let link = try show(step) { page.yield(link) }
                    }
                } catch let failure as CommandFailure where failure.code == "no-identity-server" {
                    throw failure.adding("--server of `runar account register` and `runar account login` does so")
                }
            }
            group.addTask {
                for await link in pages where opensBrowser { await PageOpener.open(link) }
                return nil
            }
            defer { group.cancelAll() }
            while let report = try await group.next() {
                if let report { return report }
            }
            throw CancellationError()
        }
    }

    /// Prints a step, and returns the address of a page to open.
    private func show(_ step: AccountStepReport) throws -> String? {
        if asJSON {
            try Output.json(step)
            return nil
        }
        guard let link = step.link, let number = step.number else { return nil }
        Output.note("Continue on this page, which must show \(number) too:")
        try Output.line(link)
        if let expires = step.expires { Output.note("waiting until \(LocalTime(seconds: expires))") }
        return link
    }

    func show(_ report: AccountStateReport) throws { try Output.report(report, asJSON: asJSON) }
}
