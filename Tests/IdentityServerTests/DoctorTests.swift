internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import Logging
internal import Platform
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

@testable internal import IdentityServer

@Suite("The doctor of the identity server") struct DoctorTests {
    /// A world in which everything is right, of which a test changes a part.
    private struct World {
        var addresses: [String: [String]] = ["id.example.org": ["192.0.2.1"], "free.example.social": ["192.0.2.1"]]
        var pages: [String: Result<(status: Int, body: String), WebClientError>] = [
            "https://id.example.org/health": .success((200, #"{"status":"ok"}"#)),
            "https://id.example.org/pages/config.json": .success(
                (200, #"{"name":"Runar","rpId":"id.example.org","handleDomain":"example.social"}"#)
            ),
            "https://id.example.org/.well-known/webauthn": .success((200, #"{"origins":["https://id.example.org"]}"#)),
            "https://free.example.social/.well-known/atproto-did": .success(
                (404, #"{"error":{"code":"handle-not-found","message":"no account has this handle"}}"#)
            ),
        ]
        var room: DiskRoom? = DiskRoom(available: 8 << 30, total: 16 << 30)
        var seconds = SystemProcess.wallSeconds
        var settings: [IdentitySetting: [String]] = [.trustedProxy: ["192.0.2.1"]]

        mutating func answer(_ url: String, _ status: Int, _ body: String) { pages[url] = .success((status, body)) }

        var probe: IdentityProbe {
            let world = self
            return IdentityProbe(
                addresses: { host throws(HostNameError) in
                    guard let texts = world.addresses[host] else { throw HostNameError(name: host, reason: "unknown") }
                    return texts.compactMap { IPAddress($0) }
                },
                fetch: { url throws(WebClientError) in
                    guard let answer = world.pages[url] else { throw .notFound(host: url) }
                    let (status, body) = try answer.get()
                    return WebResponse(status: status, fields: [], body: Array(body.utf8))
                },
                ownAddresses: { [] },
                room: { _ in world.room },
                wallSeconds: { world.seconds },
                freeLabel: { "free" }
            )
        }
    }

    private func findings(
        in directory: String = "/nonexistent/identity",
        _ change: (inout World) -> Void = { _ in }
    ) async throws -> [IdentityFinding] {
        var world = World()
        change(&world)
        let configuration = try Scene.configuration(world.settings)
        return await IdentityDoctor(configuration, directory: directory, probe: world.probe).findings()
    }

    /// The finding of a world that a test changes, which must have a next step.
    private func bad(
        _ code: String,
        in directory: String = "/nonexistent/identity",
        _ change: (inout World) -> Void
    ) async throws -> IdentityFinding {
        let findings = try await findings(in: directory, change)
        let found = try #require(findings.first { $0.code == code }, "\(findings)")
        #expect(found.severity != .ok && found.reason?.isEmpty == false && found.advice?.isEmpty == false)
        return found
    }

    @Test func `a server without mistakes has no problem`() async throws {
        let findings = try await findings()
        #expect(findings.filter { $0.severity != .ok }.map(\.code) == ["no-data"])
        let codes = ["settings", "clock", "no-data", "origin-address", "reachable", "same-settings", "origins"]
        #expect(findings.map(\.code) == codes + ["wildcard", "handle-hosts"])
        #expect(IdentityDoctorReport(findings).healthy)
    }

    @Test func `settings that work for some clients only have a warning`() async throws {
        let proxy = try await bad("no-trusted-proxy") { $0.settings[.trustedProxy] = nil }
        #expect(proxy.severity == .warning)
        let other = try await bad("foreign-origin") { $0.settings[.origin] = [Scene.origin, "https://example.net"] }
        #expect(other.message.contains("https://example.net"))
        _ = try await bad("test-handles") { $0.settings[.handleDomain] = ["people.test"] }
        _ = try await bad("no-limits") { $0.settings[.requestLimits] = ["off"] }
        let missing = try await bad("bad-certificate") {
            $0.settings[.tlsCertPath] = ["/nonexistent/cert.pem"]
            $0.settings[.tlsKeyPath] = ["/nonexistent/key.pem"]
        }
        #expect(missing.severity == .problem && missing.message.contains("/nonexistent/cert.pem"))
    }

    @Test func `an origin without an address, or with another one, is found`() async throws {
        let unknown = try await bad("origin-unknown") { $0.addresses["id.example.org"] = nil }
        #expect(unknown.severity == .problem)
        let elsewhere = try await bad("origin-elsewhere") { $0.addresses["id.example.org"] = ["198.51.100.9"] }
        #expect(elsewhere.severity == .warning && elsewhere.message.contains("198.51.100.9"))
    }

    @Test func `a silent, unhealthy or foreign server at the origin is found`() async throws {
        let health = "https://id.example.org/health"
        let expired = try await bad("origin-certificate") { $0.pages[health] = .failure(.tls(.expired(endSeconds: 1))) }
        #expect(expired.message.contains("expired"))
        _ = try await bad("unreachable") { $0.pages[health] = .failure(.unreachable(host: "id", reason: "refused")) }
        _ = try await bad("unhealthy") { $0.answer(health, 503, #"{"status":"failing","message":"the disk"}"#) }
        _ = try await bad("other-server") { $0.answer(health, 200, "<html>Welcome to nginx!</html>") }
        _ = try await bad("other-server") { $0.answer(health, 404, #"{"error":"not found"}"#) }
    }

    @Test func `a server with other settings or another port is found`() async throws {
        _ = try await bad("no-pages") { $0.answer("https://id.example.org/pages/config.json", 200, "<html>") }
        let facts = #"{"rpId":"localhost","handleDomain":"localhost.test"}"#
        let other = try await bad("other-settings") {
            $0.answer("https://id.example.org/pages/config.json", 200, facts)
        }
        #expect(other.severity == .problem)
        let origins = #"{"origins":["https://id.example.org:8443"]}"#
        let port = try await bad("other-origins") {
            $0.answer("https://id.example.org/.well-known/webauthn", 200, origins)
        }
        #expect(port.message.contains("https://id.example.org:8443"))
        _ = try await bad("no-origins") { $0.answer("https://id.example.org/.well-known/webauthn", 404, "") }
    }

    @Test func `hosts of handles without names, a certificate or this server are found`() async throws {
        let url = "https://free.example.social/.well-known/atproto-did"
        let names = try await bad("no-wildcard") { $0.addresses["free.example.social"] = nil }
        #expect(names.advice?.contains("*.example.social") == true)
        _ = try await bad("handle-certificate") { $0.pages[url] = .failure(.tls(.wrongName)) }
        _ = try await bad("handle-host-silent") { $0.pages[url] = .failure(.timedOut(.connecting)) }
        for body in ["<html>", #"{"error":{"code":"no-such-path"}}"#, "did:key:z"] {
            _ = try await bad("handle-host-elsewhere") { $0.answer(url, body == "<html>" ? 200 : 404, body) }
        }
    }

    @Test func `a wrong clock, a full disk and data that is open to others are found`() async throws {
        let early = try await bad("clock-behind") { $0.seconds = 1_000 }
        #expect(early.severity == .problem)
        let folder = try TemporaryDirectory()
        _ = try server(in: folder)
        let behind = try await bad("clock-behind", in: folder.path) { $0.seconds -= 3_600 }
        #expect(behind.message.contains("was written"))
        _ = try await bad("disk-full", in: folder.path) { $0.room = DiskRoom(available: 1 << 20, total: 16 << 30) }
        _ = try await bad("disk-small", in: folder.path) { $0.room = DiskRoom(available: 100 << 20, total: 16 << 30) }
        try folder.setMode(0o644, of: IdentityServer.databaseName)
        let exposed = try await bad("data-directory", in: folder.path) { _ in }
        #expect(exposed.severity == .problem && exposed.message.contains(IdentityServer.databaseName))
    }

    @Test func `a damaged database and a damaged key are found`() async throws {
        let folder = try TemporaryDirectory()
        _ = try server(in: folder)
        let good = try await findings(in: folder.path)
        #expect(good.contains { $0.code == "database" && $0.severity == .ok })
        #expect(good.contains { $0.code == "keys" && $0.severity == .ok })
        // The origin serves no /keys in this world.
        #expect(good.contains { $0.code == "other-data" && $0.severity == .problem })
        try folder.write(Array("no key".utf8), to: "sign-key.pem")
        #expect(try await bad("keys", in: folder.path) { _ in }.severity == .problem)
        for name in try folder.names() where name.hasPrefix(IdentityServer.databaseName) {
            try folder.write([UInt8](repeating: 7, count: 8_192), to: name)
        }
        #expect(try await bad("database", in: folder.path) { _ in }.severity == .problem)
    }

    @Test func `a running server on this machine has no problem, and other data is noticed`() async throws {
        let (folder, other) = (try TemporaryDirectory(), try TemporaryDirectory())
        let probe = try IdentityProbe.system()
        // It only has data.
        try await withPort(of: server(in: other, Self.local(port: 0)).run) { _ in }
        let settings = Self.local(port: QuietPort.next())
        let running = try server(in: folder, settings)
        let configuration = try Scene.configuration(settings)
        try await withPort(of: { try await running.run(onReady: $0) }) { _ in
            let findings = await IdentityDoctor(configuration, directory: folder.path, probe: probe).findings()
            #expect(findings.filter { $0.severity == .problem } == [], "\(findings)")
            let codes = Set(findings.map(\.code))
            #expect(codes.isSuperset(of: ["reachable", "same-settings", "origins", "same-data", "database", "keys"]))
            let wrong = await IdentityDoctor(configuration, directory: other.path, probe: probe).findings()
            #expect(wrong.filter { $0.severity == .problem }.map(\.code) == ["other-data"])
        }
        let stopped = await IdentityDoctor(configuration, directory: folder.path, probe: probe).findings()
        #expect(stopped.filter { $0.severity == .problem }.map(\.code) == ["unreachable"])
    }

    @Test func `a report marks each problem, and counts them`() throws {
        let report = IdentityDoctorReport([
            .ok("a", "one works"), .warning("b", "two may fail", because: "of that", advice: "do this"),
            .problem("c", "three fails", because: "of it", advice: "do that"),
        ])
        #expect(!report.healthy)
        #expect(report.lines[0] == "ok       one works" && report.lines.contains("PROBLEM  three fails"))
        #expect(report.lines.contains("         do: do that") && report.lines.last?.contains("1 problem") == true)
    }

    @Test func `data with passkeys of another relying party id is refused, and the doctor names both`() async throws {
        let folder = try TemporaryDirectory()
        _ = try server(in: folder, Self.local(port: 0))
        let other: [IdentitySetting: [String]] = [.rpId: ["example.org"], .origin: ["https://example.org"]]
        let failure = #expect(throws: CommandFailure.self) { try server(in: folder, other) }
        #expect(failure?.code == "other-rp-id" && failure?.status == .configuration)
        #expect(failure?.message.contains("localhost") == true && failure?.message.contains("example.org") == true)
        _ = try server(in: folder, Self.local(port: 0))
        let finding = try await bad("rp-id", in: folder.path) { _ in }
        #expect(finding.message.contains("localhost") && finding.message.contains("id.example.org"))
    }

    // MARK: Servers

    private static func local(port: UInt16) -> [IdentitySetting: [String]] {
        let origin = "http://localhost:\(port == 0 ? 8_443 : port)"
        return [
            .rpId: ["localhost"], .origin: [origin], .handleDomain: ["localhost.test"], .port: ["\(port)"],
            .listenAddress: ["127.0.0.1"],
        ]
    }

    /// A server, which makes its data when it is opened.
    private func server(
        in folder: TemporaryDirectory,
        _ settings: [IdentitySetting: [String]] = [:]
    ) throws -> IdentityServer {
        try IdentityServer(
            Scene.configuration(settings),
            directory: folder.path,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }
}
