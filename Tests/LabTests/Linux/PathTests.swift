#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Connections between two devices behind routers while their networks change.
@Suite(
    "Connections on moving ground",
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(LabExtent.isFull ? 30 : 15))
) struct PathTests {
    private static let patience = Duration.seconds(60)

    /// Two devices that are connected directly.
    private func connectedEncounter(_ first: NatLab.Site, _ second: NatLab.Site, mappingSeconds: Int? = nil)
        async throws -> Encounter
    {
        let encounter = try await Encounter(first, second, mappingSeconds: mappingSeconds)
        let (_, direct) = try await encounter.connect(within: Self.patience)
        try #require(direct != nil, "\(first.kind) x \(second.kind): not direct, so nothing is shown")
        return encounter
    }

    /// Prints the fate of messages in both directions, and expects that none was lost.
    private func check(_ what: String, _ traffic: Traffic) {
        let figures = "\(traffic.sent) messages, \(traffic.lost) lost, stall \(LabExtent.text(traffic.stall)) s"
        print("\(what): \(figures), \(traffic.paths)")
        #expect(traffic.lost == 0 && traffic.failures.isEmpty, "\(what): \(traffic.failures.first ?? "")")
    }

    @Test func `messages flow on when the router of who sends them forgets its mappings`() async throws {
        let encounter = try await connectedEncounter(.init(.symmetric), .init(.fullCone))
        let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
        let traffic = try await Traffic.flowing(from: first, to: second) { try await lab.forgetMappings(of: 2) }
        check("the dialler's router forgot its mappings", traffic)
    }

    @Test(.enabled(if: LabExtent.isFull, "it may take a minute: make lab"))
    func `who only listens behind a router that forgets its mappings is heard of again`() async throws {
        for (site, name) in [(2, "the dialler"), (3, "the other side")] {
            let encounter = try await connectedEncounter(.init(.symmetric), .init(.fullCone))
            let (first, second) = (encounter.first, encounter.second)
            let (source, target) = site == 2 ? (second, first) : (first, second)
            let traffic = try await Traffic.flowing(from: source, to: target) {
                try await encounter.lab.forgetMappings(of: site)
            }
            // No packet reaches the listener before it sends one itself, which may take longer than a message waits.
            print("\(name) only listens: \(traffic.lost) lost, stall \(LabExtent.text(traffic.stall)) s")
            check("afterwards", try await Traffic.flowing(from: source, to: target) {})
        }
    }

    @Test(.enabled(if: LabExtent.isFull, "it takes half a minute: make lab"), arguments: [2, 3])
    func `messages flow on when a router gets another public address`(site: Int) async throws {
        let encounter = try await connectedEncounter(.init(.portRestricted), .init(.portRestricted))
        let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
        let traffic = try await Traffic.flowing(from: first, to: second) { try await lab.changePublicAddress(of: site) }
        check("\(site == 2 ? "the dialler's" : "the other side's") address changed", traffic)
    }

    @Test(.enabled(if: LabExtent.isFull, "it takes a minute: make lab"))
    func `members that were silent until their mappings had expired hear each other`() async throws {
        let encounter = try await connectedEncounter(.init(.symmetric), .init(.fullCone), mappingSeconds: 4)
        let lab = encounter.lab
        let server = NatLab.serverAddresses[0]
        let echo = try await DatagramSocket(.server, of: lab, address: server, port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let witness = try await DatagramSocket(.site(2), of: lab, port: 40_000)
        for (source, target) in [(encounter.first, encounter.second), (encounter.second, encounter.first)] {
            let before = try await witness.mapping(seenBy: server, 7_000)
            let after = try await witness.mapping(seenBy: server, 7_000, afterSeconds: 8)
            #expect(before.port != after.port, "the router kept a mapping, so nothing is shown")
            let traffic = try await Traffic.flowing(from: source, to: target) {}
            check("after 8 s of silence, with mappings that last 4 s, \(source.name) speaks", traffic)
        }
    }

    @Test func `messages go over a member while nothing passes between the two, and directly again later`() async throws
    {
        let encounter = try await connectedEncounter(.init(.portRestricted), .init(.portRestricted))
        let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
        let watch = try await first.watch()
        let fallBack = try await Traffic.flowing(from: first, to: second) {
            let began = ContinuousClock.now
            try await lab.obstruct(2, 3)
            let relayed = try await watch.path(to: second.peerId, isRelayed: true, since: began, within: Self.patience)
            #expect(relayed != nil, "never over the public member")
        }
        check("fall back to a relay", fallBack)
        let upgrade = try await Traffic.flowing(from: second, to: first) {
            let began = ContinuousClock.now
            try await lab.clear()
            // An offer arrives after 10, 30 and 60 seconds.
            let direct = try await watch.path(to: second.peerId, isRelayed: false, since: began, within: .seconds(75))
            #expect(direct != nil, "never direct again")
            print("direct again \(direct.map { LabExtent.text($0 - began) } ?? "-") s after the obstacle was gone")
        }
        check("upgrade to a direct path", upgrade)
    }

    @Test func `messages flow on when a device changes its uplink, and changes back`() async throws {
        var stalls: [[String]] = [["device that changes", "to", "stall", "lost"]]
        for number in Array(repeating: [2, 3], count: min(5, LabExtent.repetitions)).joined() {
            let site = NatLab.Site(.portRestricted, second: .portRestricted)
            let encounter = try await connectedEncounter(site, site)
            let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
            for isUp in [false, true] {
                let name = number == 2 ? "the dialler" : "the other side"
                let traffic = try await Traffic.flowing(from: first, to: second) {
                    try await lab.setFirstUplink(of: number, isUp: isUp)
                }
                check("\(name) changes to its \(isUp ? "first" : "second") uplink", traffic)
                stalls.append([name, isUp ? "first" : "second", LabExtent.text(traffic.stall), "\(traffic.lost)"])
            }
        }
        LabExtent.printTable("uplink changes, with a message every 50 ms (seconds)", stalls)
    }

    @Test func `a short partition only delays messages`() async throws {
        let encounter = try await connectedEncounter(.init(.portRestricted), .init(.portRestricted))
        let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
        let server = NatLab.serverAddresses[0]
        let echo = try await DatagramSocket(.server, of: lab, address: server, port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let witness = try await DatagramSocket(.site(2), of: lab, port: 40_000)
        let traffic = try await Traffic.flowing(from: first, to: second) {
            try await lab.setConnected(false, site: 2)
            // Four seconds of nothing end a measurement.
            let seen = try await witness.measure(to: server, 7_000, count: 20, size: 100, milliseconds: 50)
            #expect(seen.received == 0, "something passed, so nothing is shown")
            try await lab.setConnected(true, site: 2)
        }
        check("partition of 5 s", traffic)
    }

    @Test(.enabled(if: LabExtent.isFull, "it takes minutes: make lab"))
    func `after a long partition members reconnect`()
        async throws
    {
        let encounter = try await connectedEncounter(.init(.portRestricted), .init(.portRestricted))
        let (lab, first, second) = (encounter.lab, encounter.first, encounter.second)
        let (near, far) = (try await first.watch(), try await second.watch())
        let began = ContinuousClock.now
        try await lab.setConnected(false, site: 2)
        for (watch, other) in [(near, second), (far, first)] {
            let lost = try await watch.event("peerLeft", of: other.peerId, since: began, within: .seconds(90))
            #expect(lost != nil, "the partition was not noticed")
        }
        let healed = ContinuousClock.now
        try await lab.setConnected(true, site: 2)
        let reconnected = try await near.event("peerJoined", of: second.peerId, since: healed, within: .seconds(120))
        print("met again \(reconnected.map { LabExtent.text($0 - healed) } ?? "-") s after a partition healed")
        #expect(reconnected != nil, "not met again")
        check("after a long partition", try await Traffic.flowing(from: second, to: first) {})
    }

    @Test func `through a relay a connection comes about over links of 1280 bytes, and carries a file`() async throws {
        let encounter = try await Encounter(.init(.symmetric), .init(.symmetric), mtu: 1_280)
        let (first, second) = (encounter.first, encounter.second)
        _ = try await encounter.connect(within: .seconds(1))
        #expect(try await first.isRelayed(second) == true)
        check("relayed, MTU 1280", try await Traffic.flowing(from: first, to: second) {})
        let folder = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let listener = try second.run(["listen", "--json", "--accept-files", folder.path])
        _ = try await Device.next("listening", of: listener)
        let content = try folder.file("content", String(repeating: "0123456789abcdef", count: 16_384))
        defer { try? FileManager.default.removeItem(atPath: content) }  // in a folder for temporary files
        let started = ContinuousClock.now
        try await first.answer(["send", second.peerId, "--file", content])
        print("256 KiB over a relay with MTU 1280: \(LabExtent.text(ContinuousClock.now - started)) s")
        #expect(try await first.isRelayed(second) == true)
    }
}
#endif
