internal import Foundation
internal import TestSupport
internal import Testing

/// Events that one member publishes and another prints, with nodes that find each other on loopback.
@Suite("Events", .aside, .timeLimit(.minutes(15))) struct EventTests {
    private let pair: DiscoveringPair

    init() throws {
        pair = try DiscoveringPair()
    }

    private func subscriber(
        _ options: [String],
        home: TemporaryDataDirectory,
        environment: [String: String] = [:]
    ) throws -> RunningCommand {
        try RunningCommand(["subscribe", "--json"] + options, home: home, environment: environment)
    }

    /// Whether the running node of that home has no neighbour to pass events to.
    private static func isIsolated(_ home: TemporaryDataDirectory) throws -> Bool {
        try home.runar(["status"]).output.contains("events    Pair: isolated")
    }

    @Test func `a subscriber prints the events of its topic with the publisher's label`() throws {
        try pair.startBoth()
        // Connected nodes are neighbours once they have agreed on it.
        for home in [pair.owner, pair.phone] { while try Self.isIsolated(home) {} }
        let subscriber = try subscriber(["home/*"], home: pair.owner)
        #expect(try subscriber.next("subscribed")["isIsolated"] as? Bool == false)
        let published = try pair.phone.answer(["publish", "garden/gate", "open"])
        #expect(try published.json["isIsolated"] as? Bool == false)
        #expect(try published.json["bytes"] as? Int == 4)
        let piped = try pair.phone.runar(["publish", "Pair:home/door", "-"], input: "open\u{1B}[2J\n")
        #expect(piped.output == "published\n")
        let event = try subscriber.next("published")
        #expect(event["topic"] as? String == "home/door")
        #expect(event["peerId"] as? String == pair.phoneId)
        #expect(event["label"] as? String == "phone")
        #expect(event["text"] as? String == "open\u{1B}[2J\n")
        #expect(event["number"] as? Int == 2)
        #expect(event["dropped"] as? Int == 0 && event["missed"] as? Int == 0)

        let past = try pair.owner.runar(["subscribe", ">", "--include-past", "--count", "2"])
        #expect(past.status == 0)
        let lines = past.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        #expect(lines.first == "garden/gate  phone: open")
        #expect(lines.last?.hasPrefix("home/door  phone: open") == true)
        #expect(!past.output.contains("\u{1B}"))
        #expect(past.errors.contains("subscribed to > in Pair; Control-C ends it"))
        #expect(subscriber.end(by: SIGINT) == 0)
    }

    @Test func `commands without a running node publish and subscribe with a temporary one`() throws {
        try pair.start(.owner)
        let atHome = try subscriber(["news"], home: pair.owner)
        #expect(try atHome.next("subscribed")["isIsolated"] as? Bool == true)
        for number in 1...3 {
            let published = try pair.alone(["publish", "news", "round \(number)", "--json"]) {
                try $0.status == 0 && $0.json["isIsolated"] as? Bool == false
            }
            #expect(published.status == 0, "\(published.output)\(published.errors)")
            #expect(published.errors.contains("no node runs"))
            var event = try atHome.next("published")
            // An event that seemed to reach no peer may have arrived anyway.
            while event["text"] as? String != "round \(number)" { event = try atHome.next("published") }
            #expect(event["number"] as? Int == 1)
        }
        let alone = try subscriber(["news"], home: pair.phone, environment: pair.discovery)
        let begun = try alone.next("subscribed")
        #expect(begun["networkName"] as? String == "Pair")
        if begun["isIsolated"] as? Bool == true { _ = try alone.next("eventsConnected") }
        // The dialler is notified of the admission before the other side.
        while try Self.isIsolated(pair.owner) {}
        #expect(try pair.owner.runar(["publish", "news", "to the phone"]).output == "published\n")
        #expect(try alone.next("published")["text"] as? String == "to the phone")
        #expect(alone.end(by: SIGINT) == 0)
    }

    @Test func `an isolated node keeps an event for later peers and reports its isolation`() throws {
        try pair.start(.owner)
        let before = try #require(try pair.owner.answer(["status"]).json["events"] as? [[String: Any]])
        #expect(before.map { $0["isIsolated"] as? Bool } == [true])
        #expect(try pair.owner.runar(["status"]).output.contains("events    Pair: isolated"))
        let kept = try pair.owner.runar(["publish", "news", "early"])
        #expect(kept.status == 0)
        #expect(kept.output.contains("no member is connected yet"))
        try pair.start(.phone)
        let subscriber = try subscriber(["news", "--include-past", "--count", "1"], home: pair.phone)
        #expect(try subscriber.next("published")["text"] as? String == "early")
        #expect(subscriber.end() == 0)
        let after = try #require(try pair.owner.answer(["status"]).json["events"] as? [[String: Any]])
        #expect(after.map { $0["isIsolated"] as? Bool } == [false])

        for home in [pair.owner, pair.phone] { _ = try home.answer(["stop"]) }
        let alone = try pair.owner.runar(["publish", "news", "lost", "--json"])
        #expect(alone.status == 69)
        #expect(try alone.failure["code"] as? String == "no-member-connected")
        #expect(try (alone.failure["message"] as? String)?.contains("runar up") == true)
    }

    @Test(.enabled(if: LongTests.areRun, "40 MiB of events take half a minute: make test-long"))
    func `a stopped reader learns how many events were dropped`() throws {
        try pair.start(.owner)
        let subscriber = try subscriber(["big"], home: pair.owner)
        _ = try subscriber.next("subscribed")
        #expect(kill(subscriber.id, SIGSTOP) == 0)
        let big = String(repeating: "x", count: 262_144)
        // More than the 32 MiB that wait in the node, and the bytes in transit to the reader.
        for _ in 0..<160 { _ = try pair.owner.answer(["publish", "big"], input: big) }
        #expect(kill(subscriber.id, SIGCONT) == 0)
        var (last, dropped) = (0, 0)
        for _ in 0..<160 where dropped == 0 {
            _ = try pair.owner.answer(["publish", "big", "small"])
            let event = try subscriber.next("published")
            dropped = try #require(event["dropped"] as? Int)
            let number = try #require(event["number"] as? Int)
            #expect(number == last + dropped + 1)
            #expect(event["missed"] as? Int == 0)
            last = number
        }
        #expect(dropped > 0)
    }

    @Test func `an event above the limit is refused with the limit, and one at the limit is not`() throws {
        try pair.start(.owner)
        for command in [["publish", "a", "-", "--json"], ["publish", "a", "--json"]] {
            let refused = try pair.owner.runar(command, input: String(repeating: "x", count: 262_145))
            #expect(refused.status == 65)
            #expect(try refused.failure["code"] as? String == "too-large")
            let message = try #require(try refused.failure["message"] as? String)
            // A stored value is shorter than an event: only a file has room.
            #expect(
                message.contains("262144 bytes") && message.contains("runar send") && !message.contains("runar put")
            )
        }
        let largest = try pair.owner.answer(["publish", "a"], input: String(repeating: "x", count: 262_144))
        #expect(try largest.json["bytes"] as? Int == 262_144)
    }

    @Test func `a device without a membership is refused as not a member`() throws {
        let nonMember = try TemporaryDataDirectory()
        try nonMember.makeNode()
        _ = try nonMember.answer(["join"], input: try pair.owner.answer(["network", "show"]).text("text"))
        for command in [["publish", "a", "b", "--json"], ["subscribe", "a", "--json"]] {
            let refused = try nonMember.runar(command)
            #expect(refused.status == 77, "\(refused.output)")
            #expect(try refused.failure["code"] as? String == "not-a-member")
        }
    }
}
