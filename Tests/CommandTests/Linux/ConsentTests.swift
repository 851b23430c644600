#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// A person decides at a terminal about the files that a peer offers.
@Suite("Consent", .aside, .serialized) struct ConsentTests {
    private let owner: TemporaryDataDirectory
    private let phone: TemporaryDataDirectory
    private let ownerId: String
    private let nodes: [RunningCommand]
    private let folder: String
    private let file: String

    init() throws {
        (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        ownerId = try owner.makeNode()
        let phoneId = try phone.makeNode()
        let text = try owner.answer(["network", "create", "Pair"]).text("text")
        _ = try phone.answer(["join", text, owner.answer(["network", "issue", phoneId]).text("text")])
        nodes = try [owner, phone].map { home in
            let node = try RunningCommand(["up", "--json"], home: home)
            _ = try node.next("ready")
            return node
        }
        _ = try phone.answer(["connect", owner.answer(["network", "address"]).text("text")])
        folder = owner.path + "/inbox"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        file = try phone.file("photo.bin", String(repeating: "pixels ", count: 1000))
    }

    private func listen() throws -> TerminalCommand {
        let listener = try TerminalCommand(["listen"], home: owner, in: folder)
        #expect(listener.terminal.screen(until: "Control-C ends it").contains("listening as"))
        return listener
    }

    private func offer() throws -> RunningCommand {
        try RunningCommand(["send", ownerId, "--file", file, "--json"], home: phone)
    }

    @Test func `a file arrives under the offered name after a yes`() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let listener = try listen()
        let offer = try offer()
        let question = listener.answer("(y/n) ", "Y")
        #expect(question.contains("offers ") && question.contains("photo.bin (6.8 KiB). Save it in \(folder)"))
        let told = listener.terminal.screen(until: "photo.bin\r\n")
        #expect(told.contains("now at \(folder)/"))
        #expect(try offer.outcome().status == 0)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let arrived = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
        #expect(arrived == (try Data(contentsOf: URL(filePath: file))))
        listener.terminal.type("\u{3}")
        #expect(listener.exitStatus() == 0)
    }

    @Test(arguments: ["no", "n"]) func `a no declines`(answer: String) throws {
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let listener = try listen()
        let offer = try offer()
        listener.answer("(y/n) ", answer)
        let refused = try offer.outcome()
        #expect(refused.status == 77)
        #expect(try refused.failure["code"] as? String == "declined")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        // It continues to listen.
        _ = try phone.answer(["send", ownerId, "still there?"])
        #expect(listener.terminal.screen(until: "still there?").contains("still there?"))
    }

    @Test func `a sender that is interrupted takes the question away, and the next one is answered`() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let listener = try listen()
        let first = try offer()
        #expect(listener.terminal.screen(until: "(y/n) ").contains("Answer within 2m"))
        // A message is shown meanwhile, and the question again.
        _ = try phone.answer(["send", ownerId, "look at this"])
        #expect(listener.terminal.screen(until: "(y/n) ").contains("look at this"))
        #expect(first.end(by: SIGINT) != 0)
        #expect(listener.terminal.screen(until: "photo.bin\r\n").contains("no longer offers"))
        let second = try offer()
        listener.answer("(y/n) ", "y")
        #expect(try second.outcome().status == 0)
        #expect(listener.terminal.screen(until: "photo.bin\r\n").contains("now at \(folder)/"))
    }

    @Test func `a device without a listener does not decline a file`() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let refused = try offer().outcome()
        #expect(refused.status == 69)
        #expect(try refused.failure["code"] as? String == "unattended")
    }

    @Test func `Control-C with the question open declines the file`() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let listener = try listen()
        let offer = try offer()
        _ = listener.terminal.screen(until: "(y/n) ")
        listener.terminal.type("\u{3}")
        #expect(listener.exitStatus() == 0)
        #expect(try offer.outcome().failure["code"] as? String == "declined")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
}
#endif
