internal import Bytes
internal import Console
internal import Foundation
internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import Platform
@testable internal import RunarNode
@testable internal import runar

/// The access of every operation of the API.
@Suite("The access of operations", .aside, .timeLimit(.minutes(15))) struct OperationAccessTests {
    private static let passphrase = "correct horse battery"
    /// The operations that need the device itself.
    private static let atThisDevice: Set = [
        "DELETE /circle/devices/{peer}", "GET /account/agreement", "POST /account/login", "POST /account/logout",
        "POST /account/reconnect", "POST /account/register", "POST /calls/{number}", "POST /console/address",
        "POST /console/link", "POST /deliveries/{number}", "POST /device/request", "POST /keys/root",
        "POST /lan/pairing", "POST /listen", "POST /peers/{peer}/local-files", "POST /serve", "PUT /lan",
        "PUT /settings/{key}",
    ]
    /// The operations that also need the secret of the vault.
    private static let withVaultSecret: Set = [
        "POST /account/forget", "POST /backup", "POST /backup/content", "POST /backup/content/restore",
        "POST /backup/restore", "POST /circle/devices/{peer}",
        "POST /circle/devices/{peer}/expect", "POST /device/add", "POST /device/renew", "POST /device/setup",
        "POST /keys/export", "POST /keys/import", "POST /keys/{key}/export", "POST /keys/{key}/import",
        "POST /recovery-phrase", "POST /recovery-phrase/restore",
    ]
    /// The operations of a signed-in screen.
    private static let overTheNetwork: Set = [
        "DELETE /circle/blocked/{person}", "DELETE /circle/people/{person}", "DELETE /circle/streams/{stream}",
        "DELETE /circle/streams/{stream}/members/{person}", "DELETE /files/{id}", "DELETE /networks/{network}",
        "DELETE /peers/{peer}/one-time-keys", "GET /account", "GET /account/passkeys", "GET /activity", "GET /circle",
        "GET /circle/card",
        "GET /circle/conversations/{conversation}/thoughts",
        "GET /circle/conversations/{conversation}/thoughts/{thought}", "GET /doctor", "GET /doctor/facts", "GET /files",
        "GET /files/{id}", "GET /keys", "GET /keys/{key}/public", "GET /lan", "GET /log-level", "GET /logs",
        "GET /messages", "GET /networks", "GET /networks/{network}", "GET /networks/{network}/connection-text",
        "GET /networks/{network}/discovered", "GET /networks/{network}/records", "GET /networks/{network}/table",
        "GET /node", "GET /offers", "GET /one-time-keys", "GET /peers", "GET /peers/{peer}", "GET /public-address",
        "GET /services", "GET /status", "GET /storage", "PATCH /networks/{network}", "POST /call",
        "POST /circle/conversations/{conversation}/follow", "POST /circle/conversations/{conversation}/opened",
        "POST /circle/conversations/{conversation}/thoughts", "POST /circle/people",
        "POST /circle/people/{person}/accept", "POST /circle/people/{person}/decline",
        "POST /circle/people/{person}/verify", "POST /circle/streams", "POST /circle/streams/{stream}/join",
        "POST /circle/streams/{stream}/leave", "POST /code", "POST /connect", "POST /inspect", "POST /join",
        "POST /join/invitation", "POST /joins/{number}", "POST /networks", "POST /networks/{network}/broadcast",
        "POST /networks/{network}/events", "POST /networks/{network}/invitations",
        "POST /networks/{network}/records/delete", "POST /networks/{network}/records/get",
        "POST /networks/{network}/revocations", "POST /networks/{network}/subscriptions",
        "POST /networks/{network}/tokens", "POST /node/stop", "POST /offers/{number}", "POST /peers/{peer}/circle",
        "POST /peers/{peer}/connect", "POST /peers/{peer}/disconnect", "POST /peers/{peer}/files",
        "POST /peers/{peer}/messages", "POST /peers/{peer}/one-time-keys", "POST /peers/{peer}/one-time-keys/verify",
        "POST /peers/{peer}/sealed-messages", "POST /read-code", "PUT /circle/blocked/{person}", "PUT /circle/homes",
        "PUT /circle/profile", "PUT /circle/streams/{stream}/members/{person}", "PUT /log-level",
        "PUT /networks/{network}/records",
    ]

    /// A home whose vault a passphrase opens, or a key file, and the API of its node.
    private struct Place {
        let home: TemporaryDataDirectory
        let api: NodeAPI

        init(hasPassphrase: Bool) throws {
            home = try TemporaryDataDirectory()
            let directory = try DataDirectory(at: home.path)
            let secret: VaultSecret
            if hasPassphrase {
                secret = .passphrase(SecretBytes(copying: Array(passphrase.utf8)))
            } else {
                let path = directory.file(NodeDirectory.keyFileName)
                try VaultFile.makeKeyFile(at: path)
                secret = .keyFile(path: path)
            }
            let keys = try VaultFile.create(
                at: directory.file(NodeDirectory.vaultName),
                secret: secret,
                derivation: hasPassphrase ? VaultKeyDerivation.scrypt(log2Rounds: 14) : nil,
                fileSystem: SystemFileSystem()
            )
            let settings = try Settings(flags: [:], environment: { _ in nil }, file: [:])
            let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
            api = NodeAPI(RequestHandler(node: node, keys: keys, home: directory, settings: settings))
        }

        /// The code with which an operation is refused; nil if its handler was called.
        func refusal(
            _ operation: APIOperation,
            from origin: RouteRequest.Origin,
            _ confirmation: String? = nil
        ) -> String? {
            var request = RouteRequest()
            request.origin = origin
            if let confirmation { request.body = JSONText.bytes(["confirmation": confirmation]) }
            do {
                try api.check(operation.access, of: request)
                return nil
            } catch {
                return (error as? RouteFailure)?.code ?? CommandFailure(error).code
            }
        }
    }

    private static func name(_ operation: APIOperation) -> String {
        "\(operation.route.method.rawValue) \(NodeAPIDescription.path(of: operation))"
    }

    @Test func `every operation is in one of three lists`() throws {
        let api = try Place(hasPassphrase: false).api
        let operations = Dictionary(grouping: api.operations + api.commandOperations, by: \.access)
            .mapValues { Set($0.map(Self.name)) }
        #expect(operations[.overTheNetwork] == Self.overTheNetwork)
        #expect(operations[.atThisDevice] == Self.atThisDevice)
        #expect(operations[.withVaultSecret] == Self.withVaultSecret)
    }

    @Test func `the pages name operations of the list alone`() throws {
        let api = try Place(hasPassphrase: false).api
        let known = Set(api.operations.map(Self.name))
        var named: Set<String> = []
        for page in PageTable().pages where page.path.hasSuffix(".js") && page.path != "lib/access.js" {
            let text = String(decoding: page.bytes, as: UTF8.self)
            named.formUnion(text.matches(of: /isAllowed\("([^"]+)"\)/).map { String($0.1) })
            named.formUnion(text.matches(of: /operation: "([^"]+)"/).map { String($0.1) })
        }
        #expect(named.isSubset(of: known))
        // The pages of the local network read "here" from the answer of GET /lan.
        let shown = ["POST /lan/pairing", "PUT /lan"]
        #expect(named.union(shown) == Set(api.operations.filter { $0.access != .overTheNetwork }.map(Self.name)))
    }

    @Test(arguments: [true, false])
    func `each interface performs what its list allows`(withPassphrase hasPassphrase: Bool) throws {
        let place = try Place(hasPassphrase: hasPassphrase)
        let all = place.api.operations + place.api.commandOperations
        let one = try OperationAccess.allCases.map { access in try #require(all.first { $0.access == access }) }
        for origin in [RouteRequest.Origin.thisProcess, .socket, .thisMachine, .network] {
            #expect(place.refusal(one[0], from: origin) == nil)
            #expect(place.refusal(one[1], from: origin) == (origin == .network ? "only-here" : nil))
        }
        let vault = one[2]
        let right = hasPassphrase ? Self.passphrase : "show"
        #expect(place.refusal(vault, from: .network, right) == "only-here")
        #expect(place.refusal(vault, from: .thisMachine) == "bad-field")
        let wrong = hasPassphrase ? "wrong-passphrase" : "not-confirmed"
        #expect(place.refusal(vault, from: .thisMachine, "wrong") == wrong)
        #expect(place.refusal(vault, from: .thisMachine, right) == nil)
        #expect(place.refusal(vault, from: .socket) == (hasPassphrase ? "passphrase-needed" : nil))
        #expect(place.refusal(vault, from: .socket, "wrong") == (hasPassphrase ? "wrong-passphrase" : nil))
        #expect(place.refusal(vault, from: .socket, right) == nil)
        #expect(place.refusal(vault, from: .thisProcess) == nil)
    }

    @Test func `a refused operation does not reach its handler`() async throws {
        let place = try Place(hasPassphrase: true)
        for operation in place.api.operations where operation.access != .overTheNetwork {
            var request = RouteRequest()
            request.origin = .network
            request.body = JSONText.bytes(["confirmation": Self.passphrase])
            let answer = await operation.route.answer(request)
            guard case .json(let body) = answer.content else {
                Issue.record("\(Self.name(operation)) was performed")
                continue
            }
            let code = try JSONText.decode(FailureAnswer.self, from: body).error.code
            #expect(answer.status == 403 && code == "only-here", "\(Self.name(operation))")
        }
    }

    @Test func `a command gives a running node the passphrase that its operation needs`() async throws {
        let home = try TemporaryDataDirectory()
        let unlocking = ["--passphrase-file", try home.file("passphrase", Self.passphrase)]
        try await aside {
            #expect(try home.runar(["init"] + unlocking).status == 0)
            let node = try RunningCommand(["up", "--console", "off", "--json"] + unlocking, home: home)
            _ = try node.next("ready")
            #expect(try home.runar(["keys", "export", "peer", "--json"]).status == 0)
            let refused = try home.runar(["keys", "export", "peer", "--reveal", "--json"])
            #expect(refused.status != 0 && !refused.output.contains("privateKey"))
            #expect(try (refused.failure["message"] as? String)?.contains("--passphrase-file") == true)
            let other = ["--passphrase-file", try home.file("other", "another passphrase")]
            let wrong = try home.runar(["keys", "export", "peer", "--reveal", "--json"] + other)
            #expect(try wrong.failure["code"] as? String == "wrong-passphrase")
            let shown = try home.runar(["keys", "export", "peer", "--reveal", "--json"] + unlocking)
            #expect(shown.status == 0 && shown.output.contains("privateKey"))
            #expect(node.end(by: SIGTERM) == 0)
        }
    }
}
