internal import APIDescription
internal import Console
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Logging
internal import Platform
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import RunarNode
@testable internal import runar

/// The API behind the console, by its parts and from outside.
@Suite("The console's API", .aside, .timeLimit(.minutes(15))) struct ConsoleAPITests {
    /// An API whose node is never started.
    private func makeAPI(in home: TemporaryDataDirectory) throws -> NodeAPI {
        let directory = try DataDirectory(at: home.path)
        let settings = try Settings(flags: [.console: ["0"]], environment: { _ in nil }, file: [:])
        let console = try #require(try NodeConsole(settings: settings, home: directory))
        let keys = InMemoryKeyStorage()
        let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
        let watch = NodeWatch(node: node, tap: console.tap, logs: console.logs, home: directory, settings: settings)
        let handler = RequestHandler(node: node, keys: keys, home: directory, settings: settings, watch: watch)
        return NodeAPI(handler)
    }

    @Test func `the path of an operation has the parameters of its type`() throws {
        let api = try makeAPI(in: TemporaryDataDirectory())
        for operation in api.operations + api.commandOperations {
            let template = operation.route.template
            #expect(APIShape.names(in: template) == operation.endpoint.parameters, "\(template)")
        }
    }

    @Test func `every route is described, as its types say`() throws {
        let page = try #require(PageTable()["/openapi.json"])
        let api = try makeAPI(in: TemporaryDataDirectory())
        let shapes = try NodeAPIDescription.shapes(of: api)
        let names = Set(shapes.map { "\($0.method.rawValue) \($0.template)" })
        #expect(names.count == shapes.count && names.count > 50)
        let words = try JSONDocument(Array(page.bytes))
        let document = try NodeAPIDescription.document(of: shapes, words: words)
        let text = OpenAPIDocument.text(of: document)
        let access = NodeAPIDescription.accessPage(of: api.operations)
        if let path = ProcessInfo.processInfo.environment["RUNAR_API_DESCRIPTION"] {
            let url = URL(filePath: path)
            try Data(text.utf8).write(to: url)
            try Data(access.utf8).write(to: url.deletingLastPathComponent().appending(path: "lib/access.js"))
        } else {
            let listed = try #require(PageTable()["/lib/access.js"])
            #expect(access == String(decoding: listed.bytes, as: UTF8.self), "write it anew: make api-description")
            #expect(text == String(decoding: page.bytes, as: UTF8.self), "write it anew: make api-description")
        }
        for (path, methods) in try #require(document["paths"]?.members) {
            for (method, operation) in try #require(methods.members) {
                #expect(operation["summary"]?.text != nil, "\(method) \(path) has no summary")
                #expect(operation["tags"]?.elements != nil, "\(method) \(path) has no tag")
            }
        }
    }

    @Test func `a value of any shape is described as anything`() throws {
        struct Outer: Codable { let value: RunarValue }
        let found = try SchemaReader.object(of: Outer.self)
        #expect(found.fields.map(\.schema) == [.any] && found.fields.allSatisfy(\.isRequired))
    }

    @Test func `nothing is changed by a request that reads`() throws {
        let routes = try makeAPI(in: TemporaryDataDirectory()).routes
        #expect(routes.filter { $0.method == .get && $0.body != .none }.isEmpty)
    }

    @Test func `paths of this machine are taken over the socket in the home alone`() async throws {
        let home = try TemporaryDataDirectory()
        let api = try makeAPI(in: home)
        let answer = try #require(api.routes.first { $0.template == "/api/v1/offers/{number}" })
        var request = RouteRequest()
        request.parameters = ["number": "1"]
        request.body = JSONText.bytes(OfferForm(directory: home.path))
        for (origin, status) in [(RouteRequest.Origin.thisMachine, 403), (.network, 403), (.socket, 409)] {
            request.origin = origin
            let found = await answer.answer(request)
            guard case .json = found.content else {
                Issue.record("the answer is no JSON")
                continue
            }
            #expect(found.status == status)
        }
        #expect(Set(api.routes.map(\.template)).isDisjoint(with: api.commandRoutes.map(\.template)))
    }

    @Test func `a token of another network than the one being joined is refused`() async throws {
        let home = try TemporaryDataDirectory()
        let api = try makeAPI(in: home)
        let owner = try RunarNode(config: RunarNodeConfig(keyStorage: InMemoryKeyStorage(), statePath: nil))
        let (wanted, other) = (try owner.createNetwork(name: "Home"), try owner.createNetwork(name: "Cabin"))
        let join = try #require(api.routes.first { $0.method == .post && $0.template == "/api/v1/join" })
        func ask(_ form: [String: String]) async throws -> (status: Int, text: String) {
            var request = RouteRequest()
            request.body = try Array(JSONEncoder().encode(form))
            let answer = await join.answer(request)
            guard case .json(let bytes) = answer.content else { return (0, "no JSON") }
            return (answer.status, String(decoding: bytes, as: UTF8.self))
        }
        #expect(try await ask(["text": wanted.qrString]).status == 200)
        let tokens = try [wanted, other].map {
            try owner.issueToken(for: api.node.peerId, in: $0.networkId, expiration: nil).qrString
        }
        let network = wanted.networkId.base64Encoded
        let refused = try await ask(["text": tokens[1], "network": network])
        #expect(refused.status == 422 && refused.text.contains("\"wrong-network\""), "\(refused)")
        #expect(try api.node.networks().map(\.isMember) == [false])
        #expect(try await ask(["text": tokens[0], "network": network]).status == 200)
        #expect(try api.node.networks().map(\.isMember) == [true])
    }

    @Test func `the status lists a network that revoked this device, with the next step`() async throws {
        let home = try TemporaryDataDirectory()
        let api = try makeAPI(in: home)
        let owner = try RunarNode(config: RunarNodeConfig(keyStorage: InMemoryKeyStorage(), statePath: nil))
        let network = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(for: api.node.peerId, in: network.networkId, expiration: nil)
        try api.node.addNetwork(network)
        try await api.node.joinNetwork(networkId: network.networkId, accessToken: token)
        #expect(try api.handler.status().revoked?.isEmpty == true)
        try api.node.store.addRevocations([owner.revoke(api.node.peerId, in: network.networkId)])
        let status = try api.handler.status()
        #expect(status.revoked?.map(\.networkName) == ["Home"])
        #expect(status.lines.contains { $0.contains("Home revoked this device") && $0.contains("runar doctor") })
    }

    @Test func `a setting is changed in the file, at once where that is possible`() async throws {
        let home = try TemporaryDataDirectory()
        let api = try makeAPI(in: home)
        let change = try #require(api.routes.first { $0.method == .put && $0.template == "/api/v1/settings/{key}" })
        func ask(_ key: String, _ values: [String], isHere: Bool = true) async throws -> Int {
            var request = RouteRequest()
            request.parameters = ["key": key]
            request.body = try Array(JSONEncoder().encode(["values": values]))
            request.origin = isHere ? .thisMachine : .network
            return await change.answer(request).status
        }
        func report(_ key: Setting) throws -> SettingReport? {
            try api.handler.status().configuration.first { $0.key == key }
        }
        #expect(try await ask("logLevel", ["error,discovery=debug"]) == 200)
        #expect(try api.watch.logs.levels.level == .error)
        #expect(try report(.logLevel)?.needsRestart == nil)
        #expect(try await ask("listen", ["127.0.0.1:4433"]) == 200)
        #expect(try report(.listen)?.values == ["127.0.0.1:4433"] && report(.listen)?.needsRestart == true)
        #expect(try ConfigurationFile.read(in: home.path)[.listen] == ["127.0.0.1:4433"])
        #expect(try await ask("listen", []) == 200)
        #expect(try report(.listen)?.source == .standard && report(.listen)?.needsRestart == nil)
        #expect(try ConfigurationFile.read(in: home.path)[.listen] == nil)
        for (key, values, status) in [
            ("listen", ["nonsense"], 422), ("cacheAge", ["1s", "2s"], 422), ("keyFile", ["/tmp/key"], 422),
            ("console", ["off"], 409), ("nothing", ["1"], 404),
        ] {
            #expect(try await ask(key, values) == status, "\(key)")
        }
        #expect(try await ask("cacheAge", ["1s"], isHere: false) == 403)
        #expect(try ConfigurationFile.read(in: home.path).keys.sorted { $0.rawValue < $1.rawValue } == [.logLevel])
    }

    @Test(.enabled(if: APIVisitor.missing.isEmpty, Comment(rawValue: APIVisitor.missing)))
    func `two nodes do everything that the description promises, and answer as it says`() async throws {
        let homes = [try TemporaryDataDirectory(), try TemporaryDataDirectory()]
        var nodes: [RunningCommand] = []
        var places: [String] = []
        for home in homes {
            try home.makeNode()
            let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
            let address = try await aside { try #require(try node.next("ready")["console"] as? String) }
            let token = try String(contentsOfFile: home.path + "/" + NodeConsole.tokenName, encoding: .utf8)
            places += ["\(try #require(URL(string: address)?.port))", token.trimmingCharacters(in: .newlines)]
            nodes.append(node)
        }
        let (claims, left) = try await APIVisitor.go(places)
        for claim in claims where claim.failure != nil { Issue.record("\(claim.claim): \(claim.failure ?? "")") }
        #expect(claims.count > 200)
        let api = try makeAPI(in: TemporaryDataDirectory())
        // Those of the account need an identity server, which AccountCommandTests runs.
        let others = (api.commandRoutes + api.accountOperations.map(\.route)).map {
            "\($0.method.rawValue) \($0.template)"
        }
        let own = ["POST /api/v1/session/renew", "DELETE /api/v1/session/all"]
        #expect(Set(left) == Set(own + others))
        let running = nodes
        _ = try await aside { running.map { $0.end(by: SIGTERM) } }
    }

    @Test func `fields of a query are named that are out of bounds`() throws {
        var request = RouteRequest()
        for (query, field) in [
            (["offset": "-1"], "offset"), (["limit": "0"], "limit"), (["offset": "99999999999999999999"], "offset"),
            (["offset": "x"], "offset"),
        ] {
            request.query = query
            let failure = #expect(throws: RouteFailure.self) { try request.queryForm(PageQuery.self).page() }
            #expect(failure?.status == 400 && failure?.context["field"] == field, "\(query)")
        }
        request.query = ["offset": "7", "limit": "", "search": ""]
        #expect(try request.queryForm(PageQuery.self).page() == Page(offset: 7))
        request.query = ["all": "1", "find": "false"]
        let query = try request.queryForm(PeersQuery.self)
        #expect(query.all == true && query.find == false)
        request.query = ["whose": "mine"]
        let failure = #expect(throws: RouteFailure.self) { try request.queryForm(RecordsQuery.self) }
        #expect(failure?.message == "\"whose\" must be one of own, held")
    }

    @Test func `an id in an address is that of reports, and a name stays a name`() {
        let id = String(repeating: "-", count: 42) + "8"
        #expect(IdText.plain(id) == String(repeating: "+", count: 42) + "8=")
        for name in ["Home", "", String(repeating: "x", count: 44), String(repeating: "é", count: 43)] {
            #expect(IdText.plain(name) == name)
        }
    }
}

/// Tests the API of two nodes by an independent program (Tests/Interop/console_api.py).
enum APIVisitor {
    struct Claim: Decodable, Sendable {
        let claim: String
        let failure: String?
    }

    private struct End: Decodable {
        let left: [String]
    }

    static let missing = PythonScripts.missing(for: script, otherwise: "the console's API is not gone through")
    private static let script = "console_api.py"

    /// Runs the script at these places; returns its claims and the routes that it never asked.
    static func go(_ places: [String]) async throws -> (claims: [Claim], left: [String]) {
        try await aside {
            let process = try ChildProcess(script: script, arguments: ["go"] + places)
            var claims: [Claim] = []
            while let line = process.nextLine() {
                let data = Data(line.utf8)
                if let end = try? JSONDecoder().decode(End.self, from: data) { return (claims, end.left) }  // a claim
                claims.append(try JSONDecoder().decode(Claim.self, from: data))
            }
            let failures = claims.suffix(1) + claims.filter { $0.failure != nil }
            let words = failures.map { "\($0.claim): \($0.failure ?? "")" }
            throw Outcome.Unexpected(description: "it stopped after \(claims.count) claims: \(words)")
        }
    }
}
