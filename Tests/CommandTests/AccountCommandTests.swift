internal import Foundation
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn
internal import WebClient

@testable internal import AuthenticatorSupport
@testable internal import NodeModel

/// The commands of an account, with the process of an identity server and a program that plays its page.
@Suite("Account commands", .aside, .timeLimit(.minutes(15))) struct AccountCommandTests {
    /// A server, and a browser with one passkey for each handle.
    private final class Place: Sendable {
        private struct Facts: Decodable {
            struct Agreement: Decodable { let version: String }

            let agreement: Agreement
        }

        private static let origin = "http://localhost:8443"

        private let data: TemporaryDataDirectory
        private let process: RunningCommand
        let url: String
        /// The version of the agreement.
        let version: String
        private let web: WebClient

        init() async throws {
            data = try TemporaryDataDirectory()
            process = try RunningCommand(
                [
                    "identity", "serve", "--data", data.path, "--listen-address", "127.0.0.1", "--port", "0", "--rp-id",
                    "localhost", "--origin", Self.origin, "--json",
                ],
                home: data
            )
            let port = try #require(try process.next("ready")["port"] as? Int)
            url = "http://localhost:\(port)"
            web = try WebClient(WebClient.Configuration())
            let facts = try await web.send(WebRequest("GET", WebURL("\(url)/pages/config.json"))).body
            version = try JSONDecoder().decode(Facts.self, from: Data(facts)).agreement.version
        }

        func end() -> Int32 { process.end(by: SIGTERM) }

        func get<Answer: Decodable>(_ path: String) async throws -> Answer {
            let response = try await web.send(WebRequest("GET", WebURL(url + path)))
            return try JSONDecoder().decode(Answer.self, from: Data(response.body))
        }

        func post(_ path: String, _ body: some Encodable) async throws -> Int {
            var request = WebRequest(
                "POST",
                try WebURL(url + path),
                fields: [WebField("Content-Type", "application/json")]
            )
            request.body = Array(try JSONEncoder().encode(body))
            return try await web.send(request).status
        }

        /// Does what the person does on the page of a step.
        func complete(_ step: [String: Any], with passkey: SoftwareAuthenticator) async throws -> SoftwareAuthenticator
        {
            let link = try #require(step["link"] as? String)
            let id = try #require(link.split(separator: "/").last)
            let page: CeremonyPageReport = try await get("/ceremonies/\(id)/options")
            #expect(page.number == step["number"] as? String && page.number.count == 6)
            var passkey = passkey
            (passkey.relyingPartyId, passkey.origin) = ("localhost", Self.origin)
            let status: Int
            if let creation = page.creation {
                passkey.userHandle = creation.user.id
                passkey.credentialId = Array(UUID().uuidString.utf8)
                status = try await post("/ceremonies/\(id)/registration", passkey.register(creation.challenge))
            } else {
                passkey.signCount += 1
                let challenge = try #require(page.request).challenge
                status = try await post("/ceremonies/\(id)/authentication", passkey.authenticate(challenge))
            }
            #expect(status == 200)
            return passkey
        }
    }

    /// The first step of a command that has a page.
    private func page(of command: RunningCommand) throws -> [String: Any] {
        while true {
            let step = try command.next("account")
            if step["link"] != nil { return step }
        }
    }

    /// Registers a handle on a device, and returns the passkey and the account.
    private func register(
        _ handle: String,
        _ place: Place,
        _ home: TemporaryDataDirectory
    ) async throws -> (passkey: SoftwareAuthenticator, account: [String: Any]) {
        let command = try RunningCommand(
            [
                "account", "register", handle, "--server", place.url, "--accept-agreement", place.version, "--json",
                "--no-browser",
            ],
            home: home
        )
        let passkey = try await place.complete(page(of: command), with: SoftwareAuthenticator())
        let outcome = try command.outcome()
        #expect(outcome.status == 0)
        return (passkey, try last(of: outcome))
    }

    /// The last object that a command prints.
    private func last(of outcome: Outcome) throws -> [String: Any] {
        let line = try #require(outcome.output.split(separator: "\n").last)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func codes(_ home: TemporaryDataDirectory, _ arguments: [String]) throws -> (code: String, status: Int32) {
        let outcome = try home.runar(["account"] + arguments + ["--json"])
        let failure = try last(of: outcome)["error"] as? [String: Any]
        return (failure?["code"] as? String ?? "", outcome.status)
    }

    @Test func `a person registers, has all that the checklist names, and signs in on another device`() async throws {
        let (place, home, other) = (try await Place(), try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try home.makeNode()
        let missing = try home.runar(["account", "check", "--json"])
        #expect(missing.status == 66)
        #expect(try missing.json["complete"] as? Bool == false)
        let (passkey, account) = try await register("ada", place, home)
        #expect(account["handle"] as? String == "ada.localhost.test")
        #expect(account["step"] as? String == "done" && account["signedIn"] as? Bool == true)
        let did = try #require(account["did"] as? String)
        #expect(did.hasPrefix("did:key:zDn"))
        let whole = try home.answer(["account", "check"])
        #expect(try whole.json["complete"] as? Bool == true)
        let circle = try home.answer(["circle", "list"])
        #expect(try circle.text("did") == did)
        #expect(try circle.text("handle") == "ada.localhost.test")
        #expect(try circle.text("name") == "ada")
        #expect(try (circle.json["streams"] as? [Any])?.count == 3)
        let passkeys = try home.answer(["account", "passkeys"]).json
        #expect((passkeys["passkeys"] as? [Any])?.count == 1)
        #expect(passkeys["page"] as? String == place.url + "/my-account")

        // The other device has the account, but no key of the DID.
        try other.makeNode()
        let login = try RunningCommand(
            [
                "account", "login", "ada", "--server", place.url, "--accept-agreement", place.version, "--json",
                "--no-browser",
            ],
            home: other
        )
        _ = try await place.complete(page(of: login), with: passkey)
        #expect(try login.outcome().status == 0)
        #expect(try other.answer(["account", "status"]).text("did") == did)
        let checks = try #require(try other.runar(["account", "check", "--json"]).json["checks"] as? [[String: Any]])
        #expect(checks.filter { $0["passed"] as? Bool == false }.map { $0["item"] as? String } == ["did"])
        #expect(place.end() == 0)
    }

    @Test func `a session ends by a logout, and the account leaves the device once the server has none`() async throws {
        let (place, home) = (try await Place(), try TemporaryDataDirectory())
        try home.makeNode()
        let (passkey, _) = try await register("bob", place, home)
        let again = try codes(home, ["register", "bob", "--accept-agreement", place.version])
        #expect(again.code == "account-exists" && again.status == 73)
        let out = try home.answer(["account", "logout"]).json
        #expect(out["endedAtServer"] as? Bool == true)
        #expect(try codes(home, ["logout"]).code == "not-signed-in")
        #expect(try codes(home, ["passkeys"]).code == "not-signed-in")

        let login = try RunningCommand(["account", "login", "--json", "--no-browser"], home: home)
        _ = try await place.complete(page(of: login), with: passkey)
        #expect(try login.outcome().status == 0)
        let early = try codes(home, ["delete", "--yes"])
        #expect(early.code == "account-not-deleted" && early.status == 73)
        #expect(try home.answer(["account", "status"]).json["signedIn"] as? Bool == true)
        _ = try home.answer(["account", "delete", "--yes", "--local"])
        let state = try home.answer(["account", "status"]).json
        #expect(state["handle"] == nil && state["did"] == nil && state["signedIn"] as? Bool == false)
        let circle = try home.answer(["circle", "list"]).json
        #expect(circle["did"] == nil && circle["handle"] == nil && circle["name"] as? String == "bob")
        #expect(place.end() == 0)
    }

    @Test func `without a server a person has a local profile, and reconnects later`() async throws {
        let (place, home) = (try await Place(), try TemporaryDataDirectory())
        try home.makeNode()
        #expect(try codes(home, ["register", "cleo"]).code == "no-identity-server")
        let offline = try codes(home, ["register", "cleo", "--server", "http://localhost:1"])
        #expect(offline.code == "identity-server-unreachable" && offline.status == 69)
        let state = try home.answer(["account", "status"]).json
        #expect(state["offline"] as? Bool == true && state["handle"] as? String == "cleo")
        let name = try home.answer(["circle", "list"]).text("name")
        #expect(name.contains(/^[A-Z][a-z]+ [A-Z][a-z]+ [0-9]{4}$/))

        let reconnect = try RunningCommand(
            ["account", "reconnect", "--accept-agreement", place.version, "--json", "--no-browser"],
            home: home,
            environment: ["RUNAR_IDENTITY_SERVER": place.url]
        )
        _ = try await place.complete(page(of: reconnect), with: SoftwareAuthenticator())
        #expect(try reconnect.outcome().status == 0)
        let account = try home.answer(["account", "status"]).json
        #expect(account["handle"] as? String == "cleo.localhost.test" && account["offline"] as? Bool == false)
        #expect(try home.answer(["circle", "list"]).text("name") == "cleo")
        #expect(place.end() == 0)
    }

    @Test func `mistakes are refused with their reason, and a running node registers too`() async throws {
        let (place, home, other) = (try await Place(), try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try home.makeNode()
        let server = ["--server", place.url, "--accept-agreement", place.version]
        #expect(try codes(home, ["register", "A"] + server).code == "bad-handle")
        #expect(try codes(home, ["register", "admin"] + server).code == "handle-reserved")
        let former = ["--server", place.url, "--accept-agreement", "0"]
        #expect(try codes(home, ["register", "dora"] + former).code == "agreement-changed")
        #expect(try codes(home, ["register", "dora", "--server", "ftp://localhost"]).code == "bad-setting")
        #expect(try codes(home, ["register", "dora", "--server", place.url]).code == "agreement-not-accepted")

        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        _ = try await register("dora", place, home)
        #expect(try home.answer(["account", "check"]).json["complete"] as? Bool == true)
        #expect(node.end(by: SIGTERM) == 0)
        try other.makeNode()
        #expect(try codes(other, ["register", "dora"] + server).code == "handle-taken")
        #expect(place.end() == 0)
    }
}
