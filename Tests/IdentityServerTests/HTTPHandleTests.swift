internal import APIDescription
internal import CommandModel
internal import Foundation
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import HTTPAPI
@testable internal import IdentityServer

@Suite("Handles and operation of the identity server's API") struct HTTPHandleTests {
    private static let resolve = "/xrpc/com.atproto.identity.resolveHandle"

    private func head(_ path: String, host: String?, _ method: String = "GET") -> RequestHead {
        RequestHead(
            method: method,
            path: path,
            template: nil,
            host: host,
            fields: HeaderFields(),
            localAddress: nil,
            remoteAddress: nil
        )
    }

    @Test func `a handle resolves in any case, and failures have the form of XRPC`() async throws {
        let caller = try HTTPCaller(Scene())
        let person = try await caller.register("alice").person
        for handle in ["alice.example.social", "ALICE.Example.Social"] {
            let answer = try await caller.call(.get, "\(Self.resolve)?handle=\(handle)")
            #expect(answer.status == 200 && answer.json == ["did": .string("\(person.did)")])
            #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
        }
        let failures = [
            ("", 400, "InvalidRequest"), ("?handle=", 400, "InvalidRequest"), ("?handle=alice", 400, "InvalidHandle"),
            ("?handle=a_b.example.social", 400, "InvalidHandle"), ("?handle=%00", 400, "InvalidHandle"),
            ("?handle=bob.example.social", 404, "HandleNotFound"), ("?handle=alice.example.org", 404, "HandleNotFound"),
            ("?handle=x.alice.example.social", 404, "HandleNotFound"),
        ]
        for (query, status, word) in failures {
            let answer = try await caller.call(.get, Self.resolve + query)
            #expect(answer.status == status && answer.error?.text == word, "\(query): \(answer.text)")
            #expect(answer.json?["message"]?.text?.isEmpty == false && answer.json?.members?.count == 2)
            #expect(answer.fields["Access-Control-Allow-Origin"] == "*")
        }
    }

    @Test func `the DID of a handle is at its host alone`() async throws {
        let caller = try HTTPCaller(Scene())
        let person = try await caller.register("alice").person
        let path = "/.well-known/atproto-did"
        for host in ["alice.example.social", "ALICE.example.social:8443"] {
            let answer = try await caller.call(.get, path, host: host)
            #expect(answer.status == 200 && answer.text == "\(person.did)")
        }
        let others = [
            "bob.example.social", "example.social", "id.example.org", "x.alice.example.social", "alice.example.org", "",
            "[::1]:8443", "alice.example.social.", "192.0.2.1",
        ]
        for host in others.map({ Optional($0) }) + [nil] {
            let answer = try await caller.call(.get, path, host: host)
            #expect(answer.status == 404 && answer.code == "handle-not-found", "\(host ?? "-"): \(answer.text)")
        }
    }

    @Test func `the host of a handle serves no other route and no page, with and without an account`()
        async throws
    {
        let api = try HTTPCaller(Scene()).api
        let pages = ["/", "/index.html", "/register", "/sign-in", "/pages/app.js", "/openapi.json", "/none"]
        for host in ["alice.example.social", "free.example.social:443", "Alice.Example.Social"] {
            for path in api.endpoints.map(\.route.template) + pages where path != "/.well-known/atproto-did" {
                let refusal = try #require(api.refusal(head(path, host: host)), "\(host)\(path)")
                #expect(refusal.status == 404, "\(path)")
            }
            #expect(api.refusal(head("/.well-known/atproto-did", host: host)) == nil)
        }
        for host in ["id.example.org", "127.0.0.1:8443", "[::1]", "example.social", "other.org", nil] {
            #expect(api.refusal(head("/account", host: host)) == nil, "\(host ?? "-")")
        }
    }

    @Test func `an own host below the domain of handles serves everything`() async throws {
        let settings: [IdentitySetting: [String]] = [
            .rpId: ["example.social"], .origin: ["https://id.example.social", "https://example.social:8443"],
            .handleDomain: ["example.social"],
        ]
        let api = try HTTPCaller(Scene(settings)).api
        #expect(api.refusal(head("/account", host: "id.example.social")) == nil)
        #expect(api.refusal(head("/", host: "ID.example.social:443")) == nil)
        #expect(api.refusal(head("/account", host: "alice.example.social")) != nil)
    }

    @Test func `the file of Apple's apps exists only with apps`() async throws {
        let path = "/.well-known/apple-app-site-association"
        let without = try await HTTPCaller(Scene()).call(.get, path)
        #expect(without.status == 404 && without.isSound)
        let with = try await HTTPCaller(Scene([.appleApps: ["ABCDE12345.org.example.app"]])).call(.get, path)
        #expect(with.json == ["webcredentials": ["apps": ["ABCDE12345.org.example.app"]]])
    }

    @Test func `the related origins are the configured pages, whatever a request names`() async throws {
        let origins = [Scene.origin, "https://other.example.net", "android:apk-key-hash:AAAA"]
        let caller = try HTTPCaller(Scene([.origin: origins]))
        for host in ["id.example.org", "evil.example.com"] {
            let fields = [
                (name: "Origin", value: "https://evil.example.com"), ("X-Forwarded-Host", "evil.example.com"),
            ]
            let answer = try await caller.call(.get, "/.well-known/webauthn", fields: fields, host: host)
            #expect(answer.json == ["origins": [.string(Scene.origin), "https://other.example.net"]])
        }
    }

    @Test func `no header field of a request adds an origin`() async throws {
        let caller = try HTTPCaller(Scene())
        var person = try Person("alice")
        person.authenticator.origin = "https://evil.id.example.org"
        let fields = [
            (name: "Origin", value: "https://evil.id.example.org"), ("X-Forwarded-Host", "evil.id.example.org"),
            ("X-Forwarded-Proto", "https"), ("Forwarded", "host=evil.id.example.org"),
        ]
        let host = "evil.id.example.org"
        let path = HTTPCaller.path(toRegister: person)
        let options = try await caller.call(.get, path, fields: fields, host: host).decode(CreationOptionsReport.self)
        #expect(options.publicKey.rp.id == "id.example.org")
        let form = JSONText.bytes(try person.answer(options.publicKey))
        let answer = try await caller.call(.post, "/register", form, fields: fields, host: host)
        #expect(answer.status == 403 && answer.isSound, "\(answer.text)")
        #expect(try await caller.scene.store.totals().accounts == 0)
    }

    @Test func `the last address of a trusted proxy counts, and that of another client does not`() throws {
        var caller = try HTTPCaller(Scene([.trustedProxy: ["10.0.0.9", "fd00::9"]]))
        func client(_ proxy: String, _ lines: [String]) throws -> String? {
            var request = RouteRequest()
            request.remoteAddress = SocketAddress(try #require(IPAddress(proxy)), port: 1)
            request.fields = HeaderFields(valid: lines.map { ("X-Forwarded-For", $0) })
            return caller.api.client(of: request).address.map { "\($0)" }
        }
        #expect(try client("10.0.0.9", ["192.0.2.7"]) == "192.0.2.7")
        #expect(try client("10.0.0.9", ["198.51.100.1, 192.0.2.7"]) == "192.0.2.7")
        #expect(try client("10.0.0.9", ["198.51.100.1", "192.0.2.8 , 192.0.2.7"]) == "192.0.2.7")
        #expect(try client("::ffff:10.0.0.9", ["::ffff:192.0.2.7"]) == "192.0.2.7")
        #expect(try client("fd00::9", ["2001:db8::7"]) == "2001:db8::7")
        for lines in [[], ["unknown"], ["192.0.2.7:80:1"], ["192.0.2.7, _hidden"]] {
            #expect(try client("10.0.0.9", lines) == "10.0.0.9", "\(lines)")
        }
        for proxy in ["10.0.0.8", "127.0.0.1", "fd00::8"] {
            #expect(try client(proxy, ["192.0.2.7"]) == proxy)
        }
        caller = try HTTPCaller(Scene())
        #expect(try client("127.0.0.1", ["192.0.2.7"]) == "127.0.0.1")
    }

    @Test func `the limit of an address does not depend on the addresses that it names`() async throws {
        let caller = try HTTPCaller(Scene())
        var statuses: [Int] = []
        for number in 0..<80 {
            let fields = [(name: "X-Forwarded-For", value: "192.0.2.\(number)")]
            let answer = try await caller.call(.get, "/authenticate", fields: fields)
            statuses.append(answer.status)
            #expect(answer.isSound)
        }
        #expect(statuses.first == 200 && statuses.last == 429)
    }

    @Test func `the metrics are for this machine without a proxy, or for the token`() async throws {
        var caller = try HTTPCaller(Scene())
        #expect(try await caller.call(.get, "/metrics").code == "metrics-refused")
        caller.remote = SocketAddress(.v4(0x7F00_0001), port: 1)
        let answer = try await caller.call(.get, "/metrics")
        #expect(answer.status == 200 && answer.text.contains("identity_accounts 0"))
        let forwarded = try await caller.call(.get, "/metrics", fields: [("X-Forwarded-For", "127.0.0.1")])
        #expect(forwarded.status == 403 && forwarded.isSound)
        let token = "0123456789abcdef"
        var other = try HTTPCaller(Scene([.metricsToken: [token]]))
        #expect(try await other.call(.get, "/metrics", token: token).status == 200)
        other.remote = SocketAddress(.v4(0x7F00_0001), port: 1)
        #expect(try await other.call(.get, "/metrics").status == 401)
        #expect(try await other.call(.get, "/metrics", token: "0123456789abcdeg").status == 403)
        #expect(try await other.call(.get, "/metrics", token: String(token.dropLast())).status == 403)
    }

    private func service(_ scene: Scene, _ store: IdentityStore, _ audit: AuditLog) throws -> AccountService {
        try AccountService(
            scene.service.configuration,
            store: store,
            keys: scene.keys,
            audit: audit,
            clocks: scene.service.clocks
        )
    }

    @Test func `the health is bad once the audit log cannot be written`() async throws {
        let scene = try Scene()
        let folder = scene.directory.file("logs")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let audit = try AuditLog(path: folder + "/audit.log", byteLimit: 1) { scene.now }
        let caller = try HTTPCaller(scene, service: try service(scene, scene.store, audit))
        let good = try await caller.call(.get, "/health")
        #expect(good.status == 200 && good.json?["status"] == "ok")
        try FileManager.default.removeItem(atPath: folder)
        #expect(try await caller.call(.get, "/account").status == 401)
        let bad = try await caller.call(.get, "/health")
        #expect(bad.status == 503 && bad.json?["status"] == "failing")
        #expect(bad.json?["message"]?.text?.contains("audit") == true)
    }

    @Test func `a full disk fails a registration without its path, and the health is bad until a write succeeds`()
        async throws
    {
        let scene = try Scene()
        let folder = try TemporaryDirectory()
        let disk = try FailingDisk(of: folder)
        let store = try IdentityStore(path: folder.file("identity.sqlite"))
        let audit = try AuditLog(path: scene.directory.file("other.log")) { scene.now }
        let caller = try HTTPCaller(scene, service: try service(scene, store, audit))
        var alice = try Person("alice")
        let options = try await caller.call(.get, HTTPCaller.path(toRegister: alice))
        let form = try alice.answer(options.decode(CreationOptionsReport.self).publicKey)
        disk.arm(.full(afterBytes: 0))
        let failed = try await caller.call(.post, "/register", JSONText.bytes(form))
        #expect(failed.status >= 500 && failed.code != nil, "\(failed.text)")
        #expect(!failed.text.contains(folder.path))
        let bad = try await caller.call(.get, "/health")
        #expect(bad.status == 503 && bad.json?["status"] == "failing" && !bad.text.contains(folder.path))
        // Reads need no room.
        #expect(try await caller.call(.get, "/authenticate/alice").status == 200)
        disk.heal()
        _ = try await caller.register("bob")
        #expect(try await caller.call(.get, "/health").status == 200)
        let gone = try await caller.call(.get, "\(Self.resolve)?handle=alice.example.social")
        #expect(gone.status == 404)
        try store.close()
    }
}
