internal import Bytes
internal import Foundation
internal import Identity
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import CommandKit
@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("Texts of people") struct TextTests {
    @Test(arguments: [
        ("30d", 30 * 86_400_000), ("12h", 43_200_000), ("90m", 5_400_000), ("45s", 45_000), ("1d12h", 129_600_000),
        ("250ms", 250), ("2w", 1_209_600_000), ("0s", 0),
    ])
    func `a span of time is read with its units`(text: String, milliseconds: Int) throws {
        #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "30", "d", "1x", "-1d", "1d1d", "1.5h", "never", " 1d", "99999999999999999999d", "101w5000w"])
    func `an invalid span is refused with an example`(text: String) {
        let mistake = #expect(throws: DurationTextError.self) { try DurationText.parse(text) }
        #expect(mistake.map { CommandFailure($0).status } == .usage)
    }

    @Test func `a span is written as it is read`() throws {
        for text in ["1d12h", "15s", "250ms", "2h3m4s"] {
            #expect(DurationText.text(of: try DurationText.parse(text)) == text)
        }
    }

    @Test(arguments: [("65536", 65_536), ("64KiB", 65_536), ("1MiB", 1 << 20), ("2MB", 2_000_000), ("7B", 7)])
    func `an amount of bytes is read with or without a unit`(text: String, count: Int) throws {
        #expect(try ByteCountText.parse(text) == count)
    }

    @Test(arguments: ["", "KiB", "1 MiB", "-1", "1TiBB", "99999999999GiB"])
    func `an invalid amount is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try ByteCountText.parse(text) }
    }

    @Test func `objects are found between any other text`() {
        let text = "join me: {\"a\":\"}{\"}\n\n and {\"b\":{\"c\":\"\\\"}\"}} bye"
        #expect(JoinTexts.parts(of: text) == ["{\"a\":\"}{\"}", "{\"b\":{\"c\":\"\\\"}\"}}"])
        #expect(JoinTexts.parts(of: "} no {").isEmpty)
    }

    @Test func `the nearest name is the one with the fewest edits`() {
        #expect(Nearest.name(to: "loglevel", among: ["listen", "logLevel", "keyFile"]) == "logLevel")
        #expect(Nearest.distance("kitten", "sitting") == 3)
    }

    @Test(arguments: [
        (["pears", "--home", "X"], "\"pears\": did you mean `runar peers`?"), (["staus"], "`runar status`?"),
        (["network", "crate", "Home"], "\"network crate\": did you mean `runar network create`?"),
        (["--json", "nonsense"], "\"nonsense\": `runar --help` lists them"),
        (["invite"], "did you mean `runar network invite`?"), (["ls"], "did you mean `runar peers`?"),
        (["revoke"], "did you mean `runar network revoke` or `runar circle revoke`?"),
        (["version"], "did you mean `runar --version`?"), (["help", "pears"], "did you mean `runar peers`?"),
    ])
    func `an unknown command is named with the one that was probably meant`(words: [String], advice: String) {
        let failure = UnknownCommand.failure(in: words, of: Runar.self)
        #expect(failure?.message.contains(advice) == true, "\(String(describing: failure))")
        #expect(failure?.status == .usage)
    }

    @Test(arguments: [["peers", "--hoem", "X"], ["--home", "X", "peers"], ["help", "peers"], ["network"], []])
    func `other mistakes are left to the parser`(words: [String]) {
        #expect(UnknownCommand.failure(in: words, of: Runar.self) == nil)
    }

    @Test func `an event of a node is reported in one line with its details`() throws {
        let (peer, network) = (
            PeerId(publicKey: Ed25519KeyPair().publicKey), NetworkId(publicKey: Ed25519KeyPair().publicKey)
        )
        let address = try SocketAddress(parsing: "127.0.0.1:4433")
        let lines: [(NodeEvent, [String])] = [
            (.peerDiscovered(peer, network, [address]), [peer.text, "near", "127.0.0.1:4433"]),
            (.peerLost(peer, network), [peer.text, "no longer nearby"]),
            (.tokenRenewed(network, expirationSeconds: 1_795_300_000), [network.text, "renewed", "2026-11-21"]),
            (.tokenRenewed(network, expirationSeconds: nil), [network.text, "without end"]),
            (.tokenExpiring(network, seconds: 3 * 86_400), [network.text, "3d", "renews it"]),
        ]
        for (event, parts) in lines {
            let report = EventReport(event)
            for part in parts { #expect(report.line.contains(part), "\(report.line)") }
            #expect(!report.event.isEmpty && report.networkId == network.base64Encoded)
        }
        #expect(EventReport(.peerDiscovered(peer, network, [address])).addresses == ["127.0.0.1:4433"])
    }

    @Test func `JSON escapes control characters and bidirectional overrides`() throws {
        let text = "a\u{9B}2J\u{1B}[31m\u{202E}b\u{E0001}\u{7F} é 日本 👩\u{200D}💻"
        let shown = JSONText.shown(JSONText.encode(["text": text]))
        #expect(shown.contains(#"a\u009b2J\u001b[31m\u202eb\udb40\udc01\u007f é 日本 "#))
        #expect(try JSONText.decode([String: String].self, from: Array(shown.utf8)) == ["text": text])
    }

    @Test func `numbers without a JSON form are encoded as text, and deep values are shown as text`() {
        #expect(JSONText.encode([Double.infinity, -.infinity, .nan]) == #"["Infinity","-Infinity","NaN"]"#)
        #expect(CalledReport(path: "a/b", answer: Data()).result == nil)
        #expect(CalledReport(path: "a/b", answer: Data("null".utf8)).result == .some(nil))
        for depth in [64, 65, 511, 512, 100_000] {
            let answer = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let report = CalledReport(path: "a/b", answer: Data(answer.utf8))
            #expect((report.result == nil) == (depth > 64) && report.text == answer)
            #expect(JSONText.encode(report).contains("a/b"))
        }
    }

    @Test func `a pending join shows the digits and promises no decision`() throws {
        let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
        let network = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        let invitation = Invitation(inviter: peer, networkId: network, addresses: [], nowSeconds: 1)
        // The invitation may have been used, or may admit without consent: the joiner cannot know that yet.
        let line = JoinPendingReport(invitation, "646053").line
        #expect(line.contains("646053") && line.contains("if it asks"))
    }

    @Test(arguments: [("", false), ("kettles", false), ("kettles!", true), ("éèêëēėę", false), ("日本日本日本日本", true)])
    func `a new passphrase has eight characters, however many bytes they take`(text: String, isLongEnough: Bool) {
        #expect(NewPassphrase.isLongEnough(SecretBytes(copying: Array(text.utf8))) == isLongEnough)
    }

    @Test func `a directory of another user is refused as a home, whatever it holds`() {
        let denied = FileError(operation: "look at", path: "/srv/x/vault", code: SystemErrors.accessDenied)
        let failure = NodeDirectory.failure(denied, at: "/srv/x")
        #expect(failure.status == .notPermitted)
        #expect(failure.message.contains("/srv/x:") && failure.message.contains("--home"))
        #expect(!failure.message.contains("vault"))
    }

    @Test func `a node that fails in the background reports its own reason once`() {
        let failure = BackgroundNode.failure(Array("ready\nerror: the port is taken\n".utf8), 69, log: "/x/node.log")
        #expect(failure.message == "the node did not start: the port is taken")
        #expect(failure.status == .unavailable)
        let silent = BackgroundNode.failure([], 70, log: "/x/node.log")
        #expect(silent.message == "the node did not start: see /x/node.log")
    }

    @Test(arguments: [
        ("no node runs: `runar up` starts it, `runar peers --all` lists all", 2),
        ("there is no node in x: make one with `runar init`", 1),
        ("`runar network address` there prints one, `runar connect` here takes it", 1),
        (
            "paste the link that `runar network invite` shows there, or what `runar network show` and `runar network issue`"
                + " print there", 0
        ),
        ("does `runar up` run there? `runar stun HOST --classify` asks a server; a `quoted word` is none", 0),
        ("Scan this with the device that joins Home, or paste the link into `runar join` there.", 0),
    ])
    func `a hint for this device repeats the named home`(text: String, count: Int) {
        let shown = HomeHint.repeating("laptop", in: text)
        #expect(shown.components(separatedBy: " --home laptop`").count - 1 == count, "\(shown)")
        #expect(shown.replacing(" --home laptop", with: "") == text)
    }

    @Test func `a repeated home is quoted for a shell`() {
        #expect(HomeHint.repeating("my home's", in: "`runar up`") == #"`runar up --home 'my home'\''s'`"#)
        #expect(HomeHint.home(in: ["peers", "--home", "x y"]) == "x y")
        #expect(HomeHint.home(in: ["--home=x", "peers"]) == "x")
        #expect(HomeHint.home(in: ["send", "--", "--home", "x"]) == nil)
        #expect(HomeHint.home(in: ["peers", "--home"]) == nil)
    }

    @Test func `a token expires after the chosen span`() throws {
        #expect(try Network.Issue.expiration(of: "30d", from: 1000) == 1000 + 30 * 86_400)
        #expect(try Network.Issue.expiration(of: "never", from: 1000) == nil)
        #expect(throws: CommandFailure.self) { try Network.Issue.expiration(of: "500ms", from: 1000) }
    }
}
