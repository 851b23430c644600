internal import Bytes
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// An owner of a network and a device that is no member, each with a home.
struct InvitedPair {
    let owner: TemporaryDataDirectory
    let phone: TemporaryDataDirectory
    let phoneId: String

    init() throws {
        (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try owner.makeNode()
        phoneId = try phone.makeNode()
        _ = try owner.answer(["network", "create", "Home"])
    }

    /// Shows an invitation that admits without a question.
    func invite(_ arguments: [String] = []) throws -> (command: RunningCommand, link: String) {
        let command = try RunningCommand(["network", "invite", "--preallow", "--json"] + arguments, home: owner)
        return (command, try #require(try command.next("invited")["link"] as? String))
    }

    /// A node of the owner's that runs.
    func startOwner() throws -> RunningCommand {
        let node = try RunningCommand(["up", "--json"], home: owner)
        _ = try node.next("ready")
        return node
    }
}

extension Outcome {
    /// The objects of the output, one on each line.
    var objects: [[String: Any]] {
        get throws {
            try output.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }
    }

    /// The code of a failure that follows other lines.
    var lastFailureCode: String? {
        get throws { (try objects.last?["error"] as? [String: Any])?["code"] as? String }
    }
}

@Suite("Invitations", .aside) struct InvitationTests {
    private let pair: InvitedPair

    init() throws { pair = try InvitedPair() }

    /// Returns the same invitation with another secret.
    private func guessed(_ link: String) throws -> String {
        var binary = try Invitation(text: link).binary
        binary[65] ^= 1
        return try Invitation(binary: binary).link
    }

    @Test(arguments: [false, true]) func `one paste makes a member, and both sides show equal digits`(
        inCapitals: Bool
    ) throws {
        let (invitation, link) = try pair.invite(["--label", "phone"])
        #expect(link.hasPrefix("runar://join/"))
        let joined = try pair.phone.runar(["join", "--json"], input: inCapitals ? link.uppercased() : "\n\(link)\n")
        #expect(joined.status == 0, "\(joined.output)\(joined.errors)")
        let lines = try joined.objects
        #expect(lines.map { $0["event"] as? String } == ["joinPending", nil])
        #expect(lines.last?["name"] as? String == "Home")
        #expect(lines.last?["isMember"] as? Bool == true)
        #expect(lines.last?["isConnected"] as? Bool == true)
        let shown = try invitation.next("joinRequested")
        #expect(shown["digits"] as? String == lines.first?["digits"] as? String)
        #expect(shown["peerId"] as? String == pair.phoneId)
        let admitted = try invitation.next("admitted")
        #expect(admitted["peerId"] as? String == pair.phoneId)
        #expect(admitted["isConnected"] as? Bool == true)
        #expect(invitation.end() == 0)
        #expect(try pair.phone.answer(["network", "show"]).text("role") == "member")
        let peers = try pair.owner.answer(["peers", "--all"])
        #expect(peers.output.contains("\"label\":\"phone\""))
    }

    @Test func `an image of the code is accepted in place of the link`() throws {
        let (invitation, link) = try pair.invite()
        let file = pair.owner.path + "-code.png"
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let drawn = try runar(["qr", "show", "-", "--output", file], input: link.uppercased())
        try #require(drawn.status == 0, "\(drawn.errors)")
        let joined = try pair.phone.runar(["join", "--picture", file, "--json"])
        #expect(joined.status == 0, "\(joined.output)\(joined.errors)")
        #expect(try joined.objects.last?["isMember"] as? Bool == true)
        #expect(invitation.end() == 0)
    }

    @Test func `an invitation works between running nodes and sets the chosen expiry`() throws {
        let nodes = [try pair.startOwner(), try RunningCommand(["up", "--json"], home: pair.phone)]
        _ = try nodes[1].next("ready")
        let (invitation, link) = try pair.invite(["--expires", "never"])
        let broken = "Hello,\n\n\(link.prefix(60))\n\(link.dropFirst(60))\n"
        let joined = try pair.phone.runar(["join", "-", "--json"], input: broken)
        #expect(joined.status == 0, "\(joined.output)\(joined.errors)")
        #expect(try joined.objects.last?["expiration"] as? UInt64 == nil)
        #expect(try invitation.next("admitted")["isConnected"] as? Bool == true)
        #expect(invitation.end() == 0)
        #expect(try pair.phone.answer(["peers"]).output.contains("\"connected\":true"))
    }

    @Test func `a used and a withdrawn invitation are refused with different codes`() throws {
        let node = try pair.startOwner()
        let (invitation, link) = try pair.invite()
        #expect(try pair.phone.runar(["join", "--json"], input: link).status == 0)
        #expect(invitation.end() == 0)
        let other = try TemporaryDataDirectory()
        try other.makeNode()
        let again = try other.runar(["join", "--json"], input: link)
        #expect(again.status == 65)
        #expect(try again.lastFailureCode == "invitation-used")
        let (second, secondLink) = try pair.invite()
        #expect(second.end(by: SIGINT) == 130)
        let late = try other.runar(["join", "--json"], input: secondLink)
        #expect(late.status == 65)
        #expect(try late.lastFailureCode == "invitation-withdrawn")
        #expect(try other.answer(["network", "list"]).output.contains("\"networks\":[]"))
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `five wrong guesses are refused without a hint and then burn the invitation`() throws {
        let node = try pair.startOwner()
        let (invitation, link) = try pair.invite()
        let wrong = try guessed(link)
        for _ in 0..<5 {
            let refused = try pair.phone.runar(["join", "--json"], input: wrong)
            #expect(refused.status == 65)
            #expect(try refused.lastFailureCode == "invitation-unknown")
            #expect(try invitation.next("refused")["peerId"] as? String == pair.phoneId)
        }
        let outcome = try invitation.outcome()
        #expect(outcome.status == 77)
        #expect(try outcome.lastFailureCode == "invitation-burnt")
        let right = try pair.phone.runar(["join", "--json"], input: link)
        #expect(try right.lastFailureCode == "invitation-burnt")
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `mistakes are refused with their codes and advice`() throws {
        let (invitation, link) = try pair.invite()
        let own = try pair.owner.runar(["join", "--json"], input: link)
        #expect(own.status == 65)
        #expect(try own.lastFailureCode == "invitation-own")
        let broken = try pair.phone.runar(["join", "--json"], input: String(link.dropLast()))
        #expect(broken.status == 65)
        #expect(try broken.lastFailureCode == "bad-data")
        let nothing = try pair.phone.runar(["join", "--json"], input: "my invitation")
        #expect((try nothing.failure["message"] as? String)?.contains("`runar network invite`") == true)
        #expect(invitation.end(by: SIGINT) == 130)
        let member = try pair.phone.runar(["network", "invite", "--preallow", "--json"])
        #expect(try member.lastFailureCode == "no-network")
    }

    @Test func `every command refuses an invitation as an argument before it acts`() throws {
        let peer = try #require(PeerId(pair.phoneId))
        let network = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        let invitation = Invitation(inviter: peer, networkId: network, addresses: [], nowSeconds: 1)
        let commands = [["join"], ["inspect"], ["connect"], ["send", "abcd"], ["put", "key"], ["no-such-command"]]
        for words in commands {
            for text in [invitation.link, "see \(invitation.qrString)"] {
                let refused = try pair.phone.runar(words + [text, "--json"])
                #expect(refused.status == 64)
                #expect(try refused.failure["code"] as? String == "secret-argument")
                #expect(!(refused.output + refused.errors).contains(invitation.link.dropFirst(13)))
            }
        }
        let seen = try pair.phone.runar(["inspect", "--json"], input: invitation.link)
        #expect(try seen.text("kind") == "invitation")
        #expect(!seen.output.contains(invitation.secret.withBytes { Hex.encode($0) }))
    }

    @Test func `links of a network and a token join as their texts do`() throws {
        let text = try pair.owner.answer(["network", "show"]).text("text")
        let token = try pair.owner.answer(["network", "issue", PeerId(text: pair.phoneId).link]).text("text")
        let links = [try NetworkMetadata.fromQRString(text).link, try AccessToken.fromQRString(token).link]
        let joined = try pair.phone.answer(["join"], input: links.joined(separator: "\n"))
        #expect(try joined.json["isMember"] as? Bool == true)
        let other = try TemporaryDataDirectory()
        try other.makeNode()
        #expect(try other.answer(["join", links[0].uppercased()]).text("name") == "Home")
    }
}
