internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// Two nodes that log everything they can, while a person handles everything that is secret.
@Suite("Secrets and the log", .aside, .timeLimit(.minutes(15))) struct SecretLogTests {
    /// The secrets that were handled, and the lines of the logs that the nodes keep.
    private struct Account: Decodable, Sendable {
        let secrets: [String: [String]]
        let lines: [String]
    }

    private struct Claim: Decodable {
        let claim: String
        let failure: String?
    }

    @Test(.enabled(if: APIVisitor.missing.isEmpty, Comment(rawValue: APIVisitor.missing)))
    func `no token, passphrase, phrase, key or invitation is in a log, however much is logged`() async throws {
        let homes = [try TemporaryDataDirectory(), try TemporaryDataDirectory()]
        var nodes: [RunningCommand] = []
        var places: [[String]] = []
        for home in homes {
            try home.makeNode()
            let errors = try home.file("errors", "")
            let up = try await aside {
                try RunningCommand(
                    ["up", "--console", "0", "--log-level", "trace", "--json"],
                    home: home,
                    errors: errors
                )
            }
            let address = try await aside { try #require(try up.next("ready")["console"] as? String) }
            let token = try String(contentsOfFile: home.path + "/" + NodeConsole.tokenName, encoding: .utf8)
            places.append(["\(try #require(URL(string: address)?.port))", token.trimmingCharacters(in: .newlines)])
            nodes.append(up)
        }
        _ = try await aside { try homes[0].answer(["network", "create", "First"]) }
        let key = try await aside { try homes[0].answer(["keys", "export", "root", "--reveal"]).text("privateKey") }
        let known = places
        let account = try await aside {
            // The addresses last: they are good for a minute.
            try Self.handleSecrets(
                zip(homes, known).flatMap { home, place in
                    place + [try home.answer(["console", "--print"]).text("address")]
                } + [key]
            )
        }
        let running = nodes
        #expect(try await aside { running.map { $0.end(by: SIGTERM) } } == [0, 0])

        let printed = try homes.map { try String(contentsOfFile: $0.path + "-errors", encoding: .utf8) }
        for home in homes { try FileManager.default.removeItem(atPath: home.path + "-errors") }
        let logged = account.lines.joined(separator: "\n") + printed.joined(separator: "\n")
        #expect(account.lines.count > 20 && printed.allSatisfy { $0.contains(" debug ") || $0.contains(" trace ") })
        #expect(account.secrets.count == 8 && account.secrets["phrase"]?.count == 22)
        for (name, secrets) in account.secrets {
            for secret in secrets {
                #expect(secret.count >= 8, "\(name) is too short to be looked for")
                #expect(!logged.lowercased().contains(secret.lowercased()), "the log has a secret of the kind \(name)")
            }
        }
    }

    private static func handleSecrets(_ words: [String]) throws -> Account {
        let process = try ChildProcess(script: "console_api.py", arguments: ["secrets"] + words)
        while let line = process.nextLine() {
            let data = Data(line.utf8)
            if let account = try? JSONDecoder().decode(Account.self, from: data) { return account }  // a claim
            let claim = try JSONDecoder().decode(Claim.self, from: data)
            if let failure = claim.failure { Issue.record("\(claim.claim): \(failure)") }
        }
        throw Outcome.Unexpected(description: "the script ended before its account")
    }
}
