#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Multicast between network namespaces on a switch, each host a process or two of its own.
@Suite(
    "Multicast between hosts",
    .serialized,
    .enabled(if: LanLab.obstacle == nil, Comment(rawValue: LanLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct LanTests {
    @Test func `three hosts all hear each other over IPv4 and IPv6`() throws {
        let lab = try LanLab(hosts: 3)
        let probes = try (1...3).map { try Probe("host\($0)", on: $0, of: lab) }
        for probe in probes {
            for other in probes where other.name != probe.name {
                try probe.waits(for: other, sourcePrefix: "10.77.0.")
                try probe.waits(for: other, sourcePrefix: "[fe80::")
            }
            try probe.waitsForAddresses { $0.first == "10.77.0.\(probe.host):4433" }
            #expect(probe.joined == ["lo", "eth0"])
        }
    }

    @Test func `two processes on one host hear each other and the others`() throws {
        let lab = try LanLab(hosts: 2)
        let first = try Probe("first", on: 1, of: lab)
        let second = try Probe("second", on: 1, of: lab)
        let remote = try Probe("remote", on: 2, of: lab)
        for (listener, speaker) in [(first, second), (second, first)] {
            try listener.waits(for: speaker, sourcePrefix: "127.0.0.1")
            try listener.waits(for: speaker, sourcePrefix: "10.77.0.1")
            try listener.waits(for: remote)
            try remote.waits(for: speaker)
        }
    }

    @Test func `a host is heard again after its cable is plugged back in`() throws {
        let lab = try LanLab(hosts: 3)
        let probes = try (1...3).map { try Probe("host\($0)", on: $0, of: lab) }
        for speaker in probes.dropFirst() { try probes[0].waits(for: speaker) }
        try lab.unplug(3)
        try probes[2].waitsForAddresses(["127.0.0.1:4433", "[::1]:4433"])
        #expect(probes[2].joined == ["lo"])
        try Probe("witness", on: 1, of: lab).hears(probes[1], butNot: probes[2])
        let mended = Date.now
        try lab.plug(3)
        try probes[2].waitsForAddresses { $0.contains("10.77.0.3:4433") }
        for (listener, speaker) in [(0, 2), (2, 0), (2, 1), (1, 2)] {
            try probes[listener].waits(for: probes[speaker], sourcePrefix: "10.77.0.", since: mended)
        }
    }

    @Test func `a host is heard again after a silent cut by the switch`() throws {
        let lab = try LanLab(hosts: 3)
        let probes = try (1...3).map { try Probe("host\($0)", on: $0, of: lab) }
        for speaker in probes.dropFirst() { try probes[0].waits(for: speaker) }
        try lab.isolate(3)
        try Probe("witness", on: 1, of: lab).hears(probes[1], butNot: probes[2])
        let mended = Date.now
        try lab.rejoin(3)
        for (listener, speaker) in [(0, 2), (2, 0), (2, 1), (1, 2)] {
            try probes[listener].waits(for: probes[speaker], sourcePrefix: "10.77.0.", since: mended)
        }
    }

    @Test func `a network card may be taken out and another put in`() throws {
        let lab = try LanLab(hosts: 2)
        let stayer = try Probe("stayer", on: 1, of: lab)
        let changer = try Probe("changer", on: 2, of: lab)
        try stayer.waits(for: changer)
        try lab.removeInterface(of: 2)
        try changer.waitsForAddresses(["127.0.0.1:4433", "[::1]:4433"])
        let mended = Date.now
        try lab.addInterface(of: 2)
        try changer.waitsForAddresses { $0.contains("10.77.0.2:4433") }
        try stayer.waits(for: changer, sourcePrefix: "10.77.0.2", since: mended)
        try changer.waits(for: stayer, sourcePrefix: "10.77.0.1", since: mended)
    }

    @Test func `a host whose address changes speaks from the new one`() throws {
        let lab = try LanLab(hosts: 2)
        let stayer = try Probe("stayer", on: 1, of: lab)
        let changer = try Probe("changer", on: 2, of: lab)
        try stayer.waits(for: changer, sourcePrefix: "10.77.0.2")
        let changed = Date.now
        try lab.setAddress(of: 2, to: "10.77.0.99")
        try changer.waitsForAddresses { $0.contains("10.77.0.99:4433") && !$0.contains("10.77.0.2:4433") }
        try stayer.waits(for: changer, sourcePrefix: "10.77.0.99", since: changed)
        try changer.waits(for: stayer, sourcePrefix: "10.77.0.1", since: changed)
    }

    @Test func `hosts without an assigned address hear each other over IPv6`() throws {
        let lab = try LanLab(hosts: 2)
        for host in 1...2 { try lab.setAddress(of: host, to: nil) }
        let (first, second) = (try Probe("first", on: 1, of: lab), try Probe("second", on: 2, of: lab))
        try first.waits(for: second, sourcePrefix: "[fe80::")
        try second.waits(for: first, sourcePrefix: "[fe80::")
        try first.waitsForAddresses { $0.count == 1 && $0.allSatisfy { $0.hasPrefix("[fe80::") } }
    }

    @Test func `two processes on a host without a network hear each other on loopback`() throws {
        let lab = try LanLab(hosts: 1, isWired: false)
        let first = try Probe("first", on: 1, of: lab)
        let second = try Probe("second", on: 1, of: lab)
        try first.waits(for: second, sourcePrefix: "127.0.0.1")
        try second.waits(for: first, sourcePrefix: "127.0.0.1")
        try first.waitsForAddresses(["127.0.0.1:4433", "[::1]:4433"])
    }
}

/// A `LanProbe` and its output.
///
/// Its lines about other probes and about its addresses arrive in either order: wait for both.
private final class Probe {
    let name: String
    let host: Int
    private(set) var joined: [String] = []
    private(set) var addresses: [String] = []
    private let process: ChildProcess
    private var seen: Set<String> = []

    /// Why a probe disappointed.
    enum Failure: Error {
        case ended
        case heard(String)
    }

    init(_ name: String, on host: Int, of lab: LanLab) throws {
        self.name = name
        self.host = host
        process = try ChildProcess("LanProbe", arguments: [name, "4433"], on: host, of: lab)
    }

    deinit {
        _ = process.kill()
    }

    /// A received announcement.
    private struct Heard {
        let name: Substring
        let source: Substring
        let time: Date
    }

    /// Reads one line, and returns the announcement that it reports.
    private func next() throws -> Heard? {
        guard let line = process.nextLine() else { throw Failure.ended }
        let words = line.split(separator: " ")
        switch words.first {
        case "joined": joined = words.dropFirst().map(String.init)
        case "addresses": addresses = words.dropFirst().map(String.init)
        case "heard" where words.count == 5:
            // A socket that receives datagrams from other interfaces would report each twice.
            #expect(seen.insert("\(words[1]) \(words[2]) \(words[3])").inserted, "heard twice: \(line)")
            let time = Date(timeIntervalSince1970: Double(words[4]) ?? 0)
            return Heard(name: words[1], source: words[3], time: time)
        default: Issue.record("LanProbe said: \(line)")
        }
        return nil
    }

    /// Reads until `speaker` was received from an address that begins with `sourcePrefix`, later than `moment`.
    func waits(for speaker: Probe, sourcePrefix: String = "", since moment: Date = .distantPast) throws {
        while true {
            guard let heard = try next(), heard.name == speaker.name, heard.source.hasPrefix(sourcePrefix),
                heard.time > moment
            else { continue }
            if moment == .distantPast { return }
            print("\(name) hears \(speaker.name) again after \(heard.time.timeIntervalSince(moment)) s")
            return
        }
    }

    /// Reads until the own addresses are as asked for.
    func waitsForAddresses(_ condition: ([String]) -> Bool) throws {
        while !condition(addresses) { _ = try next() }
    }

    func waitsForAddresses(_ wanted: [String]) throws { try waitsForAddresses { $0 == wanted } }

    /// Reads until `speaker` was received often; `silent`, which sends as often, must not be received meanwhile.
    func hears(_ speaker: Probe, butNot silent: Probe) throws {
        var count = 0
        while count < 20 {
            guard let heard = try next() else { continue }
            if heard.name == silent.name { throw Failure.heard(silent.name) }
            if heard.name == speaker.name { count += 1 }
        }
    }
}
#endif
