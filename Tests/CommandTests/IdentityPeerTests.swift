internal import Foundation
internal import TestSupport
internal import Testing

/// A running identity server, and a client that is not ours (Tests/Interop/identity_peer.py).
@Suite(
    "An identity server and an independent client",
    .aside,
    .timeLimit(.minutes(15)),
    .enabled(if: IdentityPeer.missing.isEmpty, Comment(rawValue: IdentityPeer.missing))
)
struct IdentityPeerTests {
    private let home: TemporaryDataDirectory

    init() throws {
        home = try TemporaryDataDirectory()
    }

    /// The lines of the script for a server that has its port in its origin.
    private func lines(_ mode: String, _ options: String...) throws -> [[String: Any]] {
        let port = QuietPort.next()
        let words = ["identity", "serve", "--data", home.path + "/identity", "--json", "--request-limits", "off"]
        let place = ["--rp-id", "localhost", "--origin", "http://localhost:\(port)", "--port", "\(port)"]
        let server = try RunningCommand(words + place, home: home)
        _ = try server.next("ready")
        let process = try ChildProcess(script: IdentityPeer.script, arguments: [mode, "\(port)"] + options)
        var lines: [[String: Any]] = []
        while let line = process.nextLine() {
            lines.append(
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            )
        }
        #expect(process.waitUntilExit() == 0)
        #expect(server.end(by: SIGTERM) == 0)
        return lines
    }

    @Test func `an authenticator registers and signs in, and is refused without user verification`() throws {
        let claims = try lines("accounts")
        #expect(claims.count == 7)
        for claim in claims { #expect(claim["failure"] as? String == nil, "\(claim)") }
    }

    @Test func `no request that is made from the description is a fault of the server`() throws {
        let operations = try lines("examples", LongTests.areRun ? "500" : "20")
        #expect(operations.count >= 30)
        for operation in operations {
            #expect(operation["failure"] as? String == nil, "\(operation)")
            #expect(operation["count"] as? Int ?? 0 > 0, "\(operation)")
        }
    }
}

private enum IdentityPeer {
    static let script = "identity_peer.py"
    static let missing = PythonScripts.missing(for: script, otherwise: "the identity server has no other client")
}
