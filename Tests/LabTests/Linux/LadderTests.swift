#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Whole nodes over worse and worse lines: one is behind a router and dials, the other one is public.
@Suite(
    "Degradation ladder",
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct LadderTests {
    @Test func `over lines up to a satellite's, members connect, and what they send arrives`() async throws {
        // The gate has no time for all of them.
        let rungs = LabExtent.isFull ? Rung.all : Rung.all.filter { [0, 3, 6].contains($0.number) }
        let results = try await withThrowingTaskGroup(of: Climb.self) { group in
            for rung in rungs { group.addTask { try await Climb(rung) } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.rung.number < $1.rung.number }
        }
        LabExtent.printTable(
            "degradation ladder (both directions each; seconds with the start of a command, 0.1 to 0.3)",
            [Climb.headings] + results.map(\.row)
        )
        for result in results where !result.complaints.isEmpty {
            print("\(result.rung.name): \(result.complaints.joined(separator: "; "))")
        }
        for result in results where result.rung.isExpected {
            #expect(result.connected != nil, "\(result.rung.name): not connected")
            #expect(result.heard.isSuperset(of: Climb.texts), "\(result.rung.name): \(result.heard.count) messages")
            #expect(result.stored != nil && result.found != nil, "\(result.rung.name): no stored value")
        }
    }
}

/// The results of two devices on a rung.
private struct Climb: Sendable {
    static let texts = Set((1...20).map { "message \($0)" })
    static let headings = [
        "rung", "", "line (each direction)", "connect", "messages", "median", "longest", "put", "get", "256 KiB",
    ]
    private static let port = 4_433
    /// The time within which a command is tried again.
    private static let patience = Duration.seconds(90)

    let rung: Rung
    private(set) var connected: Duration?
    private(set) var sent: [Duration] = []
    private(set) var heard: Set<String> = []
    private(set) var stored: Duration?
    private(set) var found: Duration?
    private(set) var file: Duration?
    /// Why commands failed that were then tried again.
    private(set) var complaints: [String] = []

    init(_ rung: Rung) async throws {
        self.rung = rung
        let lab = try await NatLab.with([.init(.portRestricted, line: rung.line), .init(.none)])
        let folder = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let patient = ["RUNAR_REQUEST_TIMEOUT": "60s", "RUNAR_DHT_TIMEOUT": "60s", "RUNAR_DISCOVERY": "off"]
        let dialler = try await Device("dialler", wrapper: lab.wrapper(on: .site(1)), settings: patient)
        let other = try await Device(
            "other",
            wrapper: lab.wrapper(on: .site(2)),
            settings: patient.merging([
                "RUNAR_LISTEN": "0.0.0.0:\(Self.port)", "RUNAR_ACCEPT_FILES": folder.path,
            ]) { $1 }
        )
        try await Device.makeFamily(of: [other, dialler])
        try await dialler.start()
        try await other.start()
        let place = "\(NatLab.publicAddress(of: 2)):\(Self.port)"
        connected = try await time { try await dialler.outcome(["connect", other.peerId, "Family", place]) }
        guard connected != nil else { return }
        let listener = try other.run(["listen", "--json"])
        _ = try await Device.next("listening", of: listener)
        for text in Self.texts.sorted() {
            guard let time = try await time({ try await dialler.outcome(["send", other.peerId, text]) }) else {
                break
            }
            sent.append(time)
            // A message that was sent again after its receipt was lost arrives twice.
            while !heard.contains(text), let word = try await Device.next("message", of: listener)["text"] {
                heard.insert(word)
            }
        }
        stored = try await time { try await dialler.outcome(["put", "door/code", "4711"]) }
        found = try await time { try await other.outcome(["get", "door/code", "--no-cache"]) }
        let content = try folder.file("content", String(repeating: "0123456789abcdef", count: 16_384))
        defer { try? FileManager.default.removeItem(atPath: content) }  // in a folder for temporary files
        file = try await time { try await dialler.outcome(["send", other.peerId, "--file", content]) }
    }

    /// Returns the time until a command succeeds, which may be tried again; nil if it does not in time.
    private mutating func time(_ command: () async throws -> Outcome) async throws -> Duration? {
        let started = ContinuousClock.now
        while ContinuousClock.now - started < Self.patience {
            let outcome = try await command()
            if outcome.status == 0 { return ContinuousClock.now - started }
            complaints.append("after \(LabExtent.text(ContinuousClock.now - started)) s: \(outcome.errors)")
        }
        return nil
    }

    var row: [String] {
        let line = rung.line
        let loss = line.burst > 1 ? "\(line.lossPercent) % in \(line.burst)s" : "\(line.lossPercent) %"
        let path = [
            "\(Double(line.bitsPerSecond) / 1_000_000) Mbit/s", "\(Int(line.delay / .milliseconds(1))) ms",
            "+-\(Int(line.jitter / .milliseconds(1))) ms", loss,
        ]
        let times = sent.sorted()
        let median = times.isEmpty ? nil : times[times.count / 2]
        let figures = [median, times.last, stored, found, file].map { $0.map(LabExtent.text) ?? "-" }
        let first = [String(rung.number), rung.name, path.joined(separator: ", ")]
        return first + [connected.map(LabExtent.text) ?? "-", "\(heard.count)/\(Self.texts.count)"] + figures
    }
}
#endif
