internal import Foundation
internal import Identity
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Audit log of the identity server") struct AuditLogTests {
    private struct Line: Decodable, Equatable {
        var time: UInt64
        var event: String
        var user: String?
        var address: String?
        var code: String?
        var detail: String?
    }

    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
    }

    private func log(_ name: String = "audit.log", byteLimit: Int = AuditLog.fileByteLimit) throws -> AuditLog {
        try AuditLog(path: home.file(name), byteLimit: byteLimit) { 1_900_000_000 }
    }

    /// The entries of a file, of which each must be a line with a JSON object.
    private func lines(_ name: String = "audit.log", in directory: TemporaryDirectory? = nil) throws -> [Line] {
        let bytes = try (directory ?? home).bytes(name)
        #expect(bytes.isEmpty || bytes.last == UInt8(ascii: "\n"))
        return try bytes.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Line.self, from: Data($0))
        }
    }

    @Test func `each entry is a line with a JSON object`() throws {
        let log = try log()
        var random = SystemRandom()
        let user = UserId(using: &random)
        for kind in AuditEvent.Kind.allCases {
            log.record(AuditEvent(kind, user: user, code: "a-code", detail: "why", address: .v4(0x7F00_0001)))
        }
        log.record(AuditEvent(.refused))
        let lines = try lines()
        #expect(lines.count == AuditEvent.Kind.allCases.count + 1)
        for (line, kind) in zip(lines, AuditEvent.Kind.allCases) {
            let expected = Line(
                time: 1_900_000_000,
                event: kind.rawValue,
                user: user.text,
                address: "127.0.0.1",
                code: "a-code",
                detail: "why"
            )
            #expect(line == expected)
        }
        #expect(lines.last == Line(time: 1_900_000_000, event: "refused"))
        #expect(!log.hasFailed)
    }

    @Test func `others cannot read the log`() throws {
        try log().record(AuditEvent(.refused))
        let attributes = try FileManager.default.attributesOfItem(atPath: home.file("audit.log"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `hostile text stays on one line, without control characters, and is bounded`() throws {
        let log = try log()
        let hostile = "a\"}\n{\"event\":\"deleted\"}\r\u{1B}[2J\u{0}\u{202E}\u{2028}end"
        log.record(AuditEvent(.failed, code: hostile, detail: hostile))
        log.record(AuditEvent(.failed, detail: String(repeating: "x", count: 100_000)))
        log.record(AuditEvent(.failed, detail: "last"))
        let lines = try lines()
        #expect(lines.map(\.event) == ["failed", "failed", "failed"])
        #expect(lines[0].code == hostile)
        let detail = try #require(lines[0].detail)
        #expect(detail.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" && $0 != "\u{2028}" })
        #expect(detail.hasSuffix("end"))
        #expect(lines[1].detail?.count == 256)
        let bytes = try home.bytes("audit.log")
        #expect(bytes.allSatisfy { $0 >= 0x20 || $0 == UInt8(ascii: "\n") })
    }

    @Test func `the log takes at most two files of the limit`() throws {
        let log = try log(byteLimit: 500)
        for number in 0..<100 {
            log.record(AuditEvent(.refused, code: "code-\(number)"))
            for name in try home.names() { #expect(try home.bytes(name).count <= 500) }
        }
        #expect(try home.names() == ["audit.log", "audit.log.1"])
        let codes = try (lines("audit.log.1") + lines()).compactMap(\.code)
        // The latest entries, without a gap.
        #expect(codes == (100 - codes.count..<100).map { "code-\($0)" })
        #expect(codes.count >= 9)
        #expect(!log.hasFailed)
    }

    @Test func `a log that is opened again goes on, and counts its bytes`() throws {
        try log(byteLimit: 200).record(AuditEvent(.refused, code: "first"))
        let log = try log(byteLimit: 200)
        for number in 0..<3 { log.record(AuditEvent(.refused, code: "code-\(number)")) }
        #expect(try lines("audit.log.1").first?.code == "first")
        #expect(try home.names() == ["audit.log", "audit.log.1"])
    }

    @Test func `an entry that cannot be written is a failure until one can`() throws {
        let place = home.file("logs")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let log = try AuditLog(path: "\(place)/audit.log", byteLimit: 100) { 1_900_000_000 }
        log.record(AuditEvent(.refused, code: "before"))
        #expect(!log.hasFailed)
        try FileManager.default.removeItem(atPath: place)
        // The entries have no room in the file, which cannot be replaced.
        for _ in 0..<2 {
            log.record(AuditEvent(.refused, code: "lost"))
            log.record(AuditEvent(.refused, code: "lost"))
            #expect(log.hasFailed)
        }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        log.record(AuditEvent(.refused, code: "after"))
        #expect(!log.hasFailed)
        #expect(try lines("logs/audit.log").map(\.code) == ["after"])
    }

    @Test func `a full file that cannot be replaced does not grow`() throws {
        let log = try log(byteLimit: 200)
        let place = home.file("audit.log.1")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        for number in 0..<20 { log.record(AuditEvent(.refused, code: "code-\(number)")) }
        #expect(log.hasFailed)
        #expect(try home.bytes("audit.log").count <= 200)
        #expect(try lines().first?.code == "code-0")
        try FileManager.default.removeItem(atPath: place)
        log.record(AuditEvent(.refused, code: "after"))
        #expect(!log.hasFailed)
        #expect(try lines().map(\.code) == ["after"])
        #expect(try lines("audit.log.1").first?.code == "code-0")
    }

    @Test func `concurrent entries stay whole`() async throws {
        let log = try log()
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { log.record(AuditEvent(.refused, code: "code-\(number)")) }
                }
            }
        }
        let codes = try lines().compactMap(\.code)
        #expect(codes.count == 400)
        for number in 0..<8 { #expect(codes.count { $0 == "code-\(number)" } == 50) }
    }

    @Test func `the use cases record changes of accounts, without handle or DID`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice-in-chains")
        let user = try await scene.user(alice)
        let second = try alice.anotherPasskey()
        _ = try await scene.add(second, to: &alice)
        let confirmation = try await scene.confirm(.remove, &alice)
        let removal = RemovePasskeyForm(id: CredentialId(second.authenticator.credentialId), assertion: confirmation)
        _ = try await scene.service.removePasskey(removal, user, from: Scene.client)
        _ = try await scene.service.refresh(user, from: Scene.client)
        alice.signedIn = try await scene.signIn(&alice)
        try await scene.service.revoke(user, everywhere: false, from: Scene.client)
        let deletion = DeleteAccountForm(assertion: try await scene.confirm(.delete, &alice))
        try await scene.service.deleteAccount(deletion, try await scene.user(alice), from: Scene.client)
        let lines = try lines(Scene.auditName, in: scene.directory)
        #expect(
            lines.map(\.event) == [
                "registered", "passkey-added", "passkey-removed", "refreshed", "signed-in", "revoked", "deleted",
            ]
        )
        #expect(lines.allSatisfy { $0.user == alice.signedIn?.userId.text && $0.address == "10.0.0.1" })
        let bytes = try scene.directory.bytes(Scene.auditName)
        #expect(!occurs(Array(alice.handle.text.utf8), in: bytes))
        #expect(!occurs(Array(alice.did.description.utf8), in: bytes))
    }
}
