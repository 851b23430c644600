#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Tests of the laboratory itself by independent programs: without them, a success in it would prove nothing.
@Suite(
    "Routers and lines of the laboratory",
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct NatLabTests {
    private let server = NatLab.serverAddresses

    @Test(
        arguments: [
            (NatLab.Kind.fullCone, "Endpoint Independent Mapping", "Endpoint Independent Filtering"),
            (.addressRestricted, "Endpoint Independent Mapping", "Address Dependent Filtering"),
            (.portRestricted, "Endpoint Independent Mapping", "Address and Port Dependent Filtering"),
            (.symmetric, "Address and Port Dependent Mapping", "Address and Port Dependent Filtering"),
        ]
    ) func `coturn reports the NAT type of a router`(kind: NatLab.Kind, mapping: String, filtering: String) async throws
    {
        let lab = try await NatLab.with([.init(kind)])
        let server = try await Coturn(on: lab)
        try await server.expectDiscovery(["NAT with \(mapping)", "NAT with \(filtering)"], from: 1)
    }

    @Test func `coturn reports no NAT without a router and a timeout if UDP is blocked`()
        async throws
    {
        let lab = try await NatLab.with([.init(.none), .init(.blocked)])
        let server = try await Coturn(on: lab)
        try await server.expectDiscovery(["No NAT"], from: 1)
        let nothing = try await server.discovery(from: 2)
        #expect(nothing.contains("timeout") && !nothing.contains("NAT with"), "\(nothing)")
    }

    @Test(arguments: NatLab.Kind.translating) func `a router admits only the datagrams that its NAT type admits`(
        kind: NatLab.Kind
    ) async throws {
        let lab = try await NatLab.with([.init(kind)])
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        let known = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000)
        let samePlace = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_001)
        let elsewhere = try await DatagramSocket(.server, of: lab, address: server[1], port: 7_000)
        try await host.send("first", to: server[0], 7_000)
        let mapped = try await known.heard()
        #expect(mapped.address == NatLab.publicAddress(of: 1))
        #expect((mapped.port == 40_000) == (kind != .symmetric))
        for (sender, name) in [(elsewhere, "elsewhere"), (samePlace, "samePlace"), (known, "known")] {
            try await sender.send(name, to: mapped.address, mapped.port)
        }
        let expected =
            switch kind {
            case .fullCone: ["elsewhere", "samePlace", "known"]
            case .addressRestricted: ["samePlace", "known"]
            default: ["known"]
            }
        var heard: [String] = []
        while !Set(heard).isSuperset(of: expected) { heard.append(try await host.heard().text) }
        #expect(Set(heard) == Set(expected))
    }

    @Test func `an unused mapping expires, and a used one does not`() async throws {
        let life = 20
        let lab = try await NatLab.with([.init(.symmetric)], mappingSeconds: life)
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        let echo = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        var began = ContinuousClock.now
        var first = try await host.mapping(seenBy: server[0], 7_000)
        // In total longer than the lifetime of an unused mapping.
        var keptCount = 0
        while keptCount < 4 {
            let next = ContinuousClock.now
            let used = try await host.mapping(seenBy: server[0], 7_000, afterSeconds: 6)
            // On a busy machine a use may come too late for the mapping: then another one begins.
            let isInTime = ContinuousClock.now - began < .seconds(life - 1)
            if isInTime { #expect(used.port == first.port) }
            (began, first, keptCount) = (next, used, isInTime ? keptCount + 1 : 0)
        }
        let later = try await host.mapping(seenBy: server[0], 7_000, afterSeconds: 30)
        #expect(later.port != first.port)
    }

    @Test func `a router drops its mappings or changes its address on command`() async throws {
        let lab = try await NatLab.with([.init(.symmetric), .init(.portRestricted)])
        let echo = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let random = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        let first = try await random.mapping(seenBy: server[0], 7_000)
        try await lab.forgetMappings(of: 1)
        #expect(try await random.mapping(seenBy: server[0], 7_000).port != first.port)
        let stable = try await DatagramSocket(.site(2), of: lab, port: 40_000)
        let before = try await stable.mapping(seenBy: server[0], 7_000)
        #expect(before.address == "203.0.113.2")
        try await lab.changePublicAddress(of: 2)
        let after = try await stable.mapping(seenBy: server[0], 7_000)
        #expect(after.address == "203.0.113.202")
    }

    @Test func `a host with two uplinks uses the second one when the first is down, and the first again`() async throws
    {
        let lab = try await NatLab.with([.init(.portRestricted, second: .fullCone)])
        let echo = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        #expect(try await host.mapping(seenBy: server[0], 7_000).address == "203.0.113.1")
        try await lab.setFirstUplink(of: 1, isUp: false)
        #expect(try await host.mapping(seenBy: server[0], 7_000).address == "203.0.113.101")
        try await lab.setFirstUplink(of: 1, isUp: true)
        #expect(try await host.mapping(seenBy: server[0], 7_000).address == "203.0.113.1")
    }

    @Test func `IPv6 traffic is not translated, and unsolicited datagrams are dropped`() async throws {
        let lab = try await NatLab.with([.init(.portRestricted), .init(.none)], hasIPv6: true)
        let host = try await DatagramSocket(.site(1), of: lab, address: "::", port: 40_000)
        let other = try await DatagramSocket(.site(2), of: lab, address: "::", port: 7_000)
        let address = "2001:db8:1::2"
        try await other.send("unasked", to: address, 40_000)
        try await host.send("hello", to: "2001:db8::2", 7_000)
        #expect(try await other.heard() == .init(address: address, port: 40_000, text: "hello"))
        try await other.send("answer", to: address, 40_000)
        #expect(try await host.heard().text == "answer")
    }

    @Test func `an obstructed or disconnected path drops datagrams until it is restored`() async throws {
        let lab = try await NatLab.with([.init(.none), .init(.none)])
        let echo = try await DatagramSocket(.site(2), of: lab, port: 7_000, echoes: true)
        let witness = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime((echo, witness)) {} }
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        let other = NatLab.publicAddress(of: 2)
        #expect(try await host.measure(to: other, 7_000, count: 20, size: 100, milliseconds: 1).received == 20)
        try await lab.obstruct(1, 2)
        #expect(try await host.measure(to: other, 7_000, count: 20, size: 100, milliseconds: 1).received == 0)
        #expect(try await host.measure(to: server[0], 7_000, count: 20, size: 100, milliseconds: 1).received == 20)
        try await lab.clear()
        #expect(try await host.measure(to: other, 7_000, count: 20, size: 100, milliseconds: 1).received == 20)
        try await lab.setConnected(false, site: 2)
        #expect(try await host.measure(to: other, 7_000, count: 20, size: 100, milliseconds: 1).received == 0)
        try await lab.setConnected(true, site: 2)
        #expect(try await host.measure(to: other, 7_000, count: 20, size: 100, milliseconds: 1).received == 20)
    }

    @Test(
        arguments: [
            NatLab.Line(),
            NatLab.Line(delay: .milliseconds(50), jitter: .milliseconds(5)),
            NatLab.Line(delay: .milliseconds(20), lossPercent: 5),
            NatLab.Line(delay: .milliseconds(20), lossPercent: 8, burst: 20),
        ]
    ) func `a line has the delay and loss of its configuration`(line: NatLab.Line) async throws {
        let lab = try await NatLab.with([.init(.portRestricted, line: line)])
        let echo = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        let seen = try await host.measure(to: server[0], 7_000, count: 4_000, size: 200, milliseconds: 1)
        print("asked \(line): \(seen.lossPercent) % lost, mean run \(seen.meanRun), median \(seen.median * 1_000) ms")
        // A slow machine can only make it later.
        #expect(seen.median >= 2 * (line.delay / .seconds(1)) * 0.95)
        let both = (1 - (1 - line.lossPercent / 100) * (1 - line.lossPercent / 100)) * 100
        // Eight thousand draws, or four hundred bursts.
        let tolerance = line.burst > 1 ? 0.5 : 0.25
        #expect(seen.lossPercent >= both * (1 - tolerance))
        // A machine that does other things meanwhile loses more.
        if LabExtent.isFull { #expect(seen.lossPercent <= both * (1 + tolerance)) }
        if line.burst > 1 { #expect(seen.meanRun > Double(line.burst) / 3) }
    }

    @Test func `a rate-limited line drops the excess and delays what it queues`() async throws {
        let line = NatLab.Line(bitsPerSecond: 1_000_000, delay: .milliseconds(5))
        let lab = try await NatLab.with([.init(.portRestricted, line: line)])
        let echo = try await DatagramSocket(.server, of: lab, address: server[0], port: 7_000, echoes: true)
        defer { withExtendedLifetime(echo) {} }
        let host = try await DatagramSocket(.site(1), of: lab, port: 40_000)
        // 4 Mbit/s for two seconds, of which a quarter passes, besides the 32 KiB that wait at the end.
        let seen = try await host.measure(to: server[0], 7_000, count: 1_000, size: 958, milliseconds: 2)
        print("4 Mbit/s into 1 Mbit/s: \(seen.lossPercent) % lost, median \(seen.median * 1_000) ms")
        #expect(seen.received < 450)
        if LabExtent.isFull { #expect(seen.received > 150) }
        #expect(seen.median > 0.15)
    }
}

/// coturn as a STUN server at both addresses of the lab's server, and its own client.
private final class Coturn {
    private let server: ChildProcess
    private let folder: TemporaryDataDirectory
    private let lab: NatLab

    init(on lab: NatLab) async throws {
        self.lab = lab
        let folder = try TemporaryDataDirectory()
        self.folder = folder
        let files = ["userdb", "pidfile"].map { "--\($0)=\(folder.path)-\($0)" }
        let command =
            lab.wrapper(on: .server) + ["sh", "-c", #"exec "$0" "$@" 2>/dev/null"#]
            + ["turnserver", "-n", "--no-auth", "--no-tls", "--no-dtls", "--no-cli"]
            + ["--log-file=stdout", "--simple-log"] + files + NatLab.serverAddresses.flatMap { ["-L", $0] }
        let process = try ChildProcess(path: command[0], arguments: Array(command.dropFirst()))
        server = process
        try await aside {
            // The last that it does before it answers.
            while let line = process.nextLine() {
                if line.contains("DB connection success") { return }
            }
            throw Outcome.Unexpected(description: "coturn does not listen")
        }
    }

    deinit {
        _ = server.kill()
        for name in ["userdb", "pidfile"] {
            try? FileManager.default.removeItem(atPath: "\(folder.path)-\(name)")  // it may not have made it
        }
    }

    /// Expects texts in the output of ``discovery(from:)``, which takes an answer that is three seconds late for none.
    func expectDiscovery(_ texts: [String], from site: Int) async throws {
        var output = ""
        for _ in 0..<5 {
            output = try await discovery(from: site)
            if texts.allSatisfy({ output.contains($0) }) { return }
        }
        Issue.record("\(output)")
    }

    /// Returns the output of `turnutils_natdiscovery` about mapping and filtering, once it has an answer or times out.
    func discovery(from site: Int) async throws -> String {
        let command =
            lab.wrapper(on: .site(site)) + [
                "turnutils_natdiscovery", "-m", "-f", "-L", lab.address(of: site), NatLab.serverAddresses[0],
            ]
        let process = try ChildProcess(path: command[0], arguments: Array(command.dropFirst()))
        return try await aside {
            var lines: [String] = []
            while let line = process.nextLine() { lines.append(line) }
            return lines.joined(separator: "\n")
        }
    }
}
#endif
