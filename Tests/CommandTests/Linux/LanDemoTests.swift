#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// The demo where there is nothing but the loopback interface: no uplink, no name server, no route.
@Suite(
    "runar demo without a network",
    .aside,
    .enabled(if: LanLab.obstacle == nil, Comment(rawValue: LanLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct LanDemoTests {
    @Test func `every step is shown on a host that is cut off from everything`() throws {
        let lab = try LanLab(hosts: 1, isWired: false)
        let demo = try RunningCommand(
            ["demo", "--json"],
            home: try TemporaryDataDirectory(),
            wrapper: lab.wrapper(on: 1)
        )
        let outcome = try demo.outcome()
        let steps = try #require(try outcome.json["steps"] as? [[String: Any]])
        for step in steps { #expect(step["ok"] as? Bool == true, "\(step)") }
        #expect(outcome.status == 0)
        #expect(steps.contains { $0["name"] as? String == "discovery: no address typed" })
        #expect(steps.contains { $0["name"] as? String == "put on the phone, get on the server" })
    }
}
#endif
