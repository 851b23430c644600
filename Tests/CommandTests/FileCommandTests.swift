internal import Foundation
internal import TestSupport
internal import Testing

/// Files between the commands of two devices.
@Suite("Files of commands", .aside, .timeLimit(.minutes(15))) struct FileCommandTests {
    @Test func `both sides learn how a file was stored, and why one was not`() throws {
        let pair = try ConnectedPair()
        let (source, inbox) = (try TemporaryDirectory(), try TemporaryDirectory())
        let target = inbox.file("in")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        let listener = try RunningCommand(["listen", "--json", "--accept-files", target], home: pair.member)
        _ = try listener.next("listening")

        let long = String(repeating: "写", count: 70) + ".pdf"
        let path = try source.write([1, 2, 3], to: long)
        let sent = try pair.owner.answer(["send", "phone", "--file", path])
        let name = try sent.text("name")
        #expect(name.hasSuffix(".pdf") && name.utf8.count <= 200)
        #expect(try sent.json["hasGrown"] as? Bool == false)
        let arrived = try listener.next("file")
        #expect(arrived["path"] as? String == "\(target)/\(name)")
        let registry = try Data(contentsOf: URL(filePath: pair.member.path + "/receiving.json"))
        #expect(try JSONDecoder().decode([String].self, from: registry) == [target])

        try FileManager.default.removeItem(atPath: target)
        let refused = try pair.owner.runar(["send", "phone", "--file", path, "--json"])
        #expect(refused.status == 75)
        #expect(try refused.failure["code"] as? String == "not-stored")
        let failed = try listener.next("fileFailed")
        #expect(failed["code"] as? String == "not-stored" && failed["name"] as? String == name)
        #expect((failed["reason"] as? String)?.contains(target) == true)
        #expect(listener.end(by: SIGINT) == 0)
        try pair.end()
    }
}
