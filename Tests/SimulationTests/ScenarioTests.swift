internal import TestSupport
internal import Testing

@testable internal import Simulation

@Suite("Scenario files") struct ScenarioTests {
    private static let minimal = #""name":"a","summary":"b","nodes":2,"duration":"1m""#

    private func read(_ more: String = "") throws -> Scenario {
        try Scenario(json: Array("{\(Self.minimal)\(more.isEmpty ? "" : ",")\(more)}".utf8))
    }

    @Test func `what is left out has its default`() throws {
        let scenario = try read()
        #expect(scenario.nodeCount == 2)
        #expect(scenario.duration == .seconds(60))
        #expect(scenario.signatures == .hashed)
        #expect(scenario.network == NetworkModel())
        #expect(scenario.contacts.pattern == .none)
        #expect(scenario.steps.isEmpty)
        #expect(scenario.expectations.isEmpty)
    }

    @Test func `every field is read`() throws {
        let scenario = try read(
            #"""
            "signatures":"real",
            "network":{"roundTrip":{"coordinates":["5ms","150ms"]},"jitter":"3ms","loss":0.05,"asymmetry":0.5,
                "dialTimeout":"4s","idleTimeout":"20s"},
            "clocks":{"skew":"30s"},
            "contacts":{"pattern":"ring","count":3},
            "steps":[{"at":"0s","start":{}},{"at":"1s","start":{"count":7,"over":"2s"}},
                {"at":"3s","partition":{"share":0.25,"lasting":"9s","oneWay":true}},{"at":"4s","revoke":{"count":2}},
                {"at":"5s","clockJump":{"share":1,"by":"1h","backwards":true}},
                {"at":"6s","mail":{"count":9,"over":"1m","mailBytes":20,"lifetime":"1h"}},
                {"at":"6s","churn":{"sessions":[[0,"1m"],[0.5,"2h"],[1,"9h"]],"absences":[[0,"1m"],[1,"1h"]],
                    "returning":0.5,"abrupt":0.25,"lasting":"10h","independent":true}}],
            "expect":[{"figure":"x","atMost":1.5},{"figure":"y","atLeast":2},{"figure":"z","equal":0}]
            """#
        )
        #expect(scenario.signatures == .real)
        #expect(scenario.network.roundTrip == .coordinates(.milliseconds(5), .milliseconds(150)))
        #expect(scenario.network.loss == 0.05)
        #expect(scenario.network.idleTimeout == .seconds(20))
        #expect(scenario.clocks.skew == .seconds(30))
        #expect(scenario.contacts == Scenario.Contacts(pattern: .ring, count: 3))
        let expected: [Scenario.Action] = [
            .start(count: nil, over: .zero), .start(count: 7, over: .seconds(2)),
            .partition(share: 0.25, lasting: .seconds(9), isOneWay: true), .revoke(count: 2),
            .clockJump(share: 1, by: .seconds(3600), isBackwards: true),
            .mail(Scenario.Work(count: 9, over: .seconds(60)), byteCount: 20, lifetime: .seconds(3600)),
        ]
        #expect(scenario.steps.dropLast().map(\.action) == expected)
        guard case .churn(let churn)? = scenario.steps.last?.action else {
            Issue.record("the last step is no churn")
            return
        }
        #expect(churn.sessions.nanoseconds(at: 0.25) == Duration.seconds(3630).nanoseconds)
        #expect(churn.abrupt == 0.25)
        #expect(churn.isIndependent)
        #expect(scenario.expectations.map(\.bound) == [1.5, 2, 0])
    }

    @Test(arguments: [
        (#""color":1"#, "color"), (#""network":{"loss":2}"#, "network.loss"),
        (#""network":{"roundTrip":{"uniform":["2s","1s"]}}"#, "network.roundTrip.uniform"),
        (#""network":{"roundTrip":{}}"#, "network.roundTrip.fixed"),
        (#""network":{"jitter":5}"#, "network.jitter"), (#""clocks":[]"#, "clocks"),
        (#""signatures":"none""#, "signatures"), (#""contacts":{"count":1}"#, "contacts.pattern"),
        (#""steps":{}"#, "steps"), (#""steps":[1]"#, "steps[0]"), (#""steps":[{"at":"1s"}]"#, "steps[0].at"),
        (#""steps":[{"at":"1s","start":{},"revoke":{}}]"#, "steps[0].at"),
        (#""steps":[{"at":"1s","start":{"count":0}}]"#, "steps[0].start.count"),
        (#""steps":[{"at":"1s","start":{"speed":1}}]"#, "steps[0].start.speed"),
        (#""expect":[{"figure":"x"}]"#, "expect[0].figure"),
        (#""expect":[{"figure":"x","atMost":1,"atLeast":1}]"#, "expect[0].atLeast"),
    ])
    func `a mistake is shown with the way to it`(field: String, path: String) {
        let error = #expect(throws: ScenarioError.self) { try read(field) }
        guard case .invalid(let found, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == path)
    }

    @Test(arguments: ["", "[]", "{", #"{"name":"a","name":"b"}"#])
    func `what is no JSON object is unreadable`(text: String) {
        let error = #expect(throws: ScenarioError.self) { try Scenario(json: Array(text.utf8)) }
        guard case .unreadable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a hostile file cannot crash or bloat the reader`() throws {
        let deep = String(repeating: #"{"a":"#, count: 100_000)
        #expect(throws: ScenarioError.self) { try Scenario(json: Array(deep.utf8)) }
        let long = [UInt8](repeating: 0x20, count: 1 << 20)
        #expect(throws: ScenarioError.unreadable(reason: "it is longer than 262144 bytes")) {
            try Scenario(json: long)
        }
        let sample = Array("{\(Self.minimal),\"steps\":[{\"at\":\"1s\",\"start\":{\"over\":\"1m\"}}]}".utf8)
        neverCrash(on: [sample]) { bytes in _ = try Scenario(json: bytes) }
    }
}
