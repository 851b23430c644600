internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar demo", .aside) struct DemoTests {
    @Test func `the demo reports every step and leaves no files behind`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rd-" + String(UInt32.random(in: .min ... .max), radix: 36)
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // the system empties it
        let outcome = try runar(["demo", "--json"], environment: ["TMPDIR": folder.path])
        let steps = try #require(try outcome.json["steps"] as? [[String: Any]])
        for step in steps { #expect(step["ok"] as? Bool == true, "\(step)") }
        #expect(try outcome.json["ok"] as? Bool == true)
        #expect(outcome.status == 0)
        #expect(steps.count >= 23)
        let names = steps.compactMap { $0["name"] as? String }
        #expect(names.contains("an event to all"))
        #expect(names.contains("discovery: no address typed") && names.contains("a copy of the server finds no peer"))
        let skipped = try outcome.json["exitSkipped"] as? String
        #expect(names.contains("a page through the tunnel") == (skipped == nil))
        #expect(steps.allSatisfy { Set($0.keys) == ["name", "ok", "milliseconds", "detail"] })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
