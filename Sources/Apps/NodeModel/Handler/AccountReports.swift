internal import CommandModel
internal import Identity
internal import Registration
internal import RegistrationModel

/// The account of this device's person at an identity server, as this device has it.
package struct AccountStateReport: HintingReport, Hashable {
    /// A fact that a complete registration has on this device.
    package struct Check: Codable, Hashable, Sendable {
        package let item: String
        package let passed: Bool
        /// The value, or the next step.
        package let detail: String
    }

    /// The step that the registration has reached, such as `agreement`, `handle`, `passkey`, `sign-in` or `done`.
    package let step: String
    /// Whether a registration or a sign-in is in progress.
    let busy: Bool
    /// Whether this device works without the server, with a local profile.
    package let offline: Bool
    /// Whether a token is stored.
    package let signedIn: Bool
    /// The URL of the identity server, if one is set.
    let server: String?
    /// The page of the server on which the person manages the passkeys and deletes the account.
    package let page: String?
    package let handle: String?
    package let did: String?
    let userId: String?
    /// The last second since 1970 at which the token is valid.
    let expires: UInt64?
    /// The word of the reason why the last step stopped, and its sentence with the next step.
    let problem: String?
    let problemText: String?
    let checks: [Check]

    /// Whether a person accepts the agreement before the next step.
    package var needsAgreement: Bool {
        step == RegistrationSnapshot.Step.agreement.rawValue || problem == "agreement-changed"
    }

    /// Whether this device has all that a complete registration has.
    package var isComplete: Bool { checks.allSatisfy(\.passed) }

    package var lines: [String] {
        var lines = ["\(handle ?? "no account"): \(state)"]
        if let did { lines.append("  did     \(did)") }
        if let server { lines.append("  server  \(server)") }
        if let expires, signedIn { lines.append("  signed in until \(LocalTime(seconds: expires))") }
        if let problemText { lines.append("  stopped: \(problemText)") }
        lines.append("  next: \(next)")
        return lines
    }

    private var state: String {
        if busy { return "a registration is in progress" }
        if signedIn { return "signed in" }
        if offline { return "offline, with a local profile" }
        switch RegistrationSnapshot.Step(rawValue: step) {
        case .done: return "signed out"
        case .agreement: return "not registered"
        case .handle, .key, .passkey, .signIn, .profile, nil: return "the registration stopped at the step \(step)"
        }
    }

    private var next: String {
        if busy { return "complete it on the page that was opened" }
        if isComplete { return "nothing: everything is in its place" }
        if signedIn { return "`runar account check` shows what this device does not have" }
        switch RegistrationSnapshot.Step(rawValue: step) {
        case .done: return "sign in with `runar account login`"
        case .agreement where server == nil: return "register with `runar account register NAME --server URL`"
        case .agreement where handle == nil && !offline: return "register with `runar account register NAME`"
        case .agreement, .handle, .key, .passkey, .signIn, .profile, nil:
            return "continue with `runar account reconnect`"
        }
    }
}

/// The facts of a complete registration, for `runar account check`.
package struct AccountCheckReport: HintingReport, Hashable {
    package let complete: Bool
    let checks: [AccountStateReport.Check]

    /// Takes the checks of a state.
    package init(_ state: AccountStateReport) {
        complete = state.isComplete
        checks = state.checks
    }

    package var lines: [String] {
        checks.map { "\($0.passed ? "ok     " : "missing") \($0.item): \($0.detail)" }
    }
}

/// A step of a registration or a sign-in, and the page on which the person continues it.
package struct AccountStepReport: Codable, Hashable, Sendable {
    package var event = "account"
    package let step: String
    /// The address of the page, while the person uses it.
    package let link: String?
    /// The six digits that the page must show too.
    package let number: String?
    /// The second since 1970 at which the page ends.
    package let expires: UInt64?

    /// Describes the step of a flow.
    init(_ flow: RegistrationFlow) {
        step = flow.snapshot.step.rawValue
        switch flow.state {
        case .passkey(_, .page(let notice)), .signIn(_, .page(let notice)):
            (link, number, expires) = (notice.link, notice.number, notice.expires)
        case .passkey, .signIn, .agreement, .handle, .key, .confirmation, .token, .profile, .done:
            (link, number, expires) = (nil, nil, nil)
        }
    }
}

/// The agreement of an identity server, and where it gives handles.
package struct AgreementReport: Report, Hashable {
    /// The name of the operator.
    package let name: String
    /// The domain under which handles are given.
    package let domain: String
    /// The domain for which passkeys are made.
    let relyingPartyId: String
    package let version: String
    package let text: String

    init(_ facts: IdentityServerFacts) {
        name = facts.name
        domain = facts.domain.text
        relyingPartyId = facts.relyingPartyId
        version = facts.agreement.version
        text = facts.agreement.text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { PlainText.line(of: String($0)) }
            .joined(separator: "\n")
    }

    package var lines: [String] {
        ["\(name) gives handles under \(domain). Its agreement, version \(version):", ""]
            + text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

/// The passkeys of the account.
package struct AccountPasskeysReport: Report, Hashable {
    /// A passkey.
    package struct Passkey: Codable, Hashable, Sendable {
        let id: String
        let label: String
        let created: UInt64
        let lastUsed: UInt64?
        let backedUp: Bool
    }

    let passkeys: [Passkey]
    /// The page of the server on which the person adds and removes passkeys.
    let page: String?

    package var lines: [String] {
        passkeys.map { passkey in
            let name = passkey.label.isEmpty ? passkey.id : passkey.label
            let use = passkey.lastUsed.map { "last used \(LocalTime(seconds: $0))" } ?? "never used to sign in"
            return
                "\(name): since \(LocalTime(seconds: passkey.created)), \(use)\(passkey.backedUp ? ", backed up" : "")"
        } + (page.map { ["add or remove passkeys at \($0)"] } ?? [])
    }
}

extension AccountPasskeysReport.Passkey {
    init(_ report: PasskeyReport) {
        self.init(
            id: report.id.description,
            label: PlainText.line(of: report.label),
            created: report.created,
            lastUsed: report.lastUsed,
            backedUp: report.isBackedUp
        )
    }
}

/// The end of a session.
package struct LogoutReport: Report, Hashable {
    /// Whether the server ended the session too.
    let endedAtServer: Bool
    /// The reason why it did not.
    let reason: String?

    package var lines: [String] {
        let note = reason.map { "the server was not told: \($0); the session ends when its token expires" }
        return ["signed out on this device"] + (note.map { [$0] } ?? [])
    }
}
