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
    struct Issue: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "issue",
            abstract: "Issue a token that makes a peer a member.",
            discussion: """
                Prints the token; give it to the peer together with `runar network show --text`. The device gets \
                another one like it from this node before it ends, unless it was revoked or --no-renewal was given.
                """
        )

        @Argument(help: "The peer's id, as `runar init` printed it there; the beginning of it or its label to renew.")
        var peer: String
        @Option(help: "The network; not needed if this device owns one only.")
        var network: String?
        @Option(help: ArgumentHelp("What to call the device from now on, as in phone.", valueName: "name"))
        var label: String?
        @Option(help: ArgumentHelp("For how long: 30d, 12h ..., or never.", valueName: "duration"))
        var expires = "30d"
        @Option(help: ArgumentHelp("Until this second since 1970, instead of --expires.", valueName: "seconds"))
        var expiresAt: UInt64?
        @Flag(help: "Show the token as a QR code, for the device to scan.")
        var qr = false
        @Flag(help: "Do not renew it: the device gets no new token by itself before this one ends.")
        var noRenewal = false
        @OptionGroup var home: HomeOptions

        func request() throws -> APIRequest<TokenReport> {
            let now = SystemProcess.wallSeconds
            let expiration = try expiresAt ?? Self.expiration(of: expires, from: now)
            if let expiration, expiration < now { Output.note("note: this token has expired already") }
            let form = TokenForm(peer: peer, expiration: expiration, label: label, renewable: !noRenewal)
            return Operations.issueToken(network.map { NetworkName($0) }, form)
        }

        func show(_ report: TokenReport) throws {
            if qr, !home.output.json { return try TerminalCode.show(report.text) }
            try Output.report(report, asJSON: home.output.json)
        }

        static func expiration(of text: String, from now: UInt64) throws -> UInt64? {
            if text == "never" { return nil }
            let span = try DurationText.parse(text)
            guard span >= .seconds(1) else {
                throw CommandFailure(
                    "bad-duration",
                    .usage,
                    "a token must be good for a second at least: write 30d, 12h or never"
                )
            }
            return now + UInt64(span.components.seconds)
        }
    }

    struct Revoke: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Revoke a peer for good: it is cut off at once wherever the revocation arrives.",
            discussion: "Asks first. A revoked device comes back only with a new key: `runar keys renew-device` there."
        )

        @Argument(help: "The peer's id, the beginning of it, or its label; `runar peers --all` lists them.")
        var peer: String
        @Option(help: "The network; not needed if this device owns one only.")
        var network: String?
        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var home: HomeOptions

        func prepare() async throws {
            if yes { return }
            try await Prompt.requireConsent(
                "This cuts off \(Terminal.quoted(peer)) for good: it can come back only with a new key.",
                with: "revoke",
                otherwise: "no peer was revoked"
            )
        }

        func request() -> APIRequest<RevocationReport> {
            Operations.revoke(network.map { NetworkName($0) }, PeerForm(PeerName(peer)))
        }
    }
}
