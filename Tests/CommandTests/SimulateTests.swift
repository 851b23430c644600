internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import runar

@Suite("runar simulate", .aside) struct SimulateTests {
    @Test func `the scenarios are named with what they show`() throws {
        let outcome = try runar(["simulate", "--list", "--json"])
        #expect(outcome.status == 0)
        let scenarios = try #require(outcome.json["scenarios"] as? [[String: Any]])
        #expect(scenarios.contains { $0["name"] as? String == "revocation" && $0["nodes"] as? Int == 100 })
        #expect(scenarios.allSatisfy { ($0["summary"] as? String)?.isEmpty == false })
        let lines = try runar(["simulate", "--list"])
        #expect(lines.output.contains("admission-storm"))
    }

    @Test func `two processes agree on the digest of a seed and report what came out`() throws {
        func report(seed: String) throws -> Outcome {
            try runar(["simulate", "revocation", "--nodes", "20", "--seed", seed, "--json"])
        }
        let (first, second, other) = (try report(seed: "3"), try report(seed: "3"), try report(seed: "4"))
        #expect(first.status == 0, "\(first.errors)")
        #expect(try first.text("scenario") == "revocation")
        #expect(try first.json["nodes"] as? Int == 20)
        #expect(try first.json["seed"] as? Int == 3)
        #expect(try first.json["figures"] is [String: Any])
        #expect(try first.text("digest") == second.text("digest"))
        #expect(try first.text("digest") != other.text("digest"))
    }

    @Test func `a file can be run, and one that expects what does not come out ends with 70`() throws {
        let path = NSTemporaryDirectory() + "scenario-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }  // the folder is temporary anyway
        let head = #"{"name":"mine","summary":"two nodes","nodes":2,"duration":"5s","steps":[{"at":"0s","start":{}}]"#
        try Data("\(head)}".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try runar(["simulate", path]).status == 0)
        try Data("\(head),\"expect\":[{\"figure\":\"runningNodes\",\"equal\":3}]}".utf8)
            .write(to: URL(fileURLWithPath: path))
        let outcome = try runar(["simulate", path])
        #expect(outcome.status == 70)
        #expect(outcome.output.contains("MISSED: runningNodes equal 3 (2)"))
    }

    @Test(arguments: [
        (["simulate"], 64), (["simulate", "revocation", "--list"], 64), (["simulate", "weather"], 66),
        (["simulate", "revocation", "--nodes", "0"], 64), (["simulate", "./missing.json"], 66),
        (["simulate", "/dev/null"], 65),
    ])
    func `mistakes have their exit codes and say what to do`(arguments: [String], status: Int) throws {
        let outcome = try runar(arguments + ["--json"])
        #expect(Int(outcome.status) == status)
        #expect(try !outcome.failure.isEmpty)
    }
}
