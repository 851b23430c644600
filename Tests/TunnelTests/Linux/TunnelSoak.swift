#if os(Linux)
internal import Concurrency
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// Two engines over a path with faults, for a time: steady traffic, streams now and then, and engines that are replaced.
///
/// The datagrams that both ends have sent are its clock, so a busy machine makes it longer and changes nothing else.
final class TunnelSoak {
    static let faults = DatagramRelay.Faults(loss: 0.05, duplication: 0.05, jitterMilliseconds: 60)
    /// The datagrams of one window.
    private static let window = 100
    /// The least share of a window that arrives.
    ///
    /// The network loses 5 of 100 datagrams, and a copy of 5 of 100 of these arrives: 95.25 of 100 arrive on average. Fewer
    /// than 75 do in one of 10^12 windows.
    private static let leastShare = 0.75
    /// The seconds until traffic passes in both directions after a replacement.
    ///
    /// An initiation is repeated after 5.3 seconds at most, and 9 of 10 handshakes succeed: six in a row fail once in 10^6.
    private static let recoverySeconds = 30
    /// The seconds until traffic passes after at least half of the replacements.
    ///
    /// The other engine notices the silence after 15 seconds, so it is the replaced engine that made the session. Its first
    /// three handshakes fail once in 1,000 replacements.
    private static let ownRecoverySeconds = 14
    /// The seconds after the start and after a replacement in which both engines may make handshakes.
    private static let settlingSeconds = 60

    /// The resources of the process.
    struct Usage {
        var residentBytes: Int
        var descriptors: Int
        var threads: Int

        init() throws {
            let statistics = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            residentBytes = try #require(statistics.dropFirst().first.flatMap { Int($0) }) * Int(getpagesize())
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        }
    }

    /// The handshakes that one engine reports.
    private struct HandshakeLog {
        var last: Duration?
        var intervals: [Duration] = []

        mutating func observe(_ time: Duration?) {
            guard let time, time != last else { return }
            if let last { intervals.append(time - last) }
            last = time
        }
    }

    private let pair: EnginePair
    private let relay: DatagramRelay
    private let traffic: SteadyTraffic
    private let seconds: Int
    private let replacementSeconds: Int
    private let streamSeconds: Int
    /// The numbers of datagrams around a replacement, by the index of the sender.
    private var disturbed: [[Range<Int>]] = [[], []]
    private var handshakes = [HandshakeLog(), HandshakeLog()]
    private var settledAt = settlingSeconds
    /// The datagrams that an end sent after a replacement until traffic passed in both directions.
    private var recoveries: [Int] = []
    private var random = SplitMix64(seed: 36)
    /// The resources at the end of each minute.
    private(set) var usages: [Usage] = []

    /// Prepares a soak for that many seconds of traffic.
    init(seconds: Int) async throws {
        self.seconds = seconds
        replacementSeconds = max(10, seconds / 6)
        streamSeconds = max(10, seconds / 120)
        pair = try await EnginePair(relayPorts: DatagramRelay.ports)
        relay = try await DatagramRelay(pair, Self.faults)
        traffic = try await SteadyTraffic(pair)
    }

    /// Runs to the end, with one replacement at least.
    func run() async throws {
        let limit = Self.recoverySeconds * SteadyTraffic.rate
        try await traffic.wait { $0.allSatisfy { $0.newest >= 0 || $0.sent > limit } }
        disturb(from: [0, 0])
        for second in 1...seconds {
            try await traffic.wait { $0.allSatisfy { $0.sent >= second * SteadyTraffic.rate } }
            try await observe(second)
            if second % streamSeconds == streamSeconds / 2 { try await stream(isIPv6: second / streamSeconds % 2 == 1) }
            if second % replacementSeconds == 0, second < seconds {
                try await replace(second / replacementSeconds % 2, second)
            }
            if second % 60 == 0 { try report(minute: second / 60) }
        }
        check()
    }

    /// Sends a stream from a random end, and compares the bytes.
    private func stream(isIPv6: Bool) async throws {
        let bytes = random.bytes(count: 48 << 10)
        let received = try await pair.stream(from: Int.random(in: 0..<2, using: &random), isIPv6: isIPv6, bytes)
        #expect(received == bytes)
    }

    /// Replaces an engine and waits for traffic in both directions.
    private func replace(_ index: Int, _ second: Int) async throws {
        let former = try await devices().map { $0.peers.first?.lastHandshake }
        let before = traffic.sent
        try await pair.replace(index)
        let marks = traffic.sent
        let limit = Self.recoverySeconds * SteadyTraffic.rate
        try await traffic.wait { directions in
            directions.indices.allSatisfy {
                directions[$0].newest >= marks[$0] || directions[$0].sent > marks[$0] + limit
            }
        }
        for (direction, mark) in zip(traffic.directions, marks) {
            #expect(direction.newest >= mark, "no traffic within \(Self.recoverySeconds) s after second \(second)")
        }
        recoveries.append(zip(traffic.sent, marks).map { $0 - $1 }.max() ?? 0)
        // Datagrams of the second before may have been on their way to the former engine.
        disturb(from: before.map { max(0, $0 - SteadyTraffic.rate) })
        for (device, time) in zip(try await devices(), former) {
            let latest = try #require(device.peers.first?.lastHandshake)
            #expect(time.map { latest > $0 } ?? true, "no handshake after the replacement in second \(second)")
        }
        settledAt = second + Self.settlingSeconds
    }

    /// Excepts the datagrams since then from the shares of windows.
    private func disturb(from first: [Int]) {
        for (index, sent) in traffic.sent.enumerated() { disturbed[index].append(first[index]..<sent) }
    }

    private func devices() async throws -> [UAPIDevice] {
        [try await pair.client(0).device(), try await pair.client(1).device()]
    }

    private func observe(_ second: Int) async throws {
        for (index, device) in try await devices().enumerated() {
            #expect(device.peers.count == 1)
            #expect(pair.engine(index).ended.value == nil)
            if second < settledAt {
                handshakes[index].last = nil
            } else {
                handshakes[index].observe(device.peers.first?.lastHandshake)
            }
        }
    }

    /// The shares of the windows without a replacement, of both directions.
    private func shares() -> [Double] {
        zip(traffic.directions, disturbed).flatMap { direction, disturbed in
            // Datagrams of the last second may be on their way.
            let ends = stride(from: Self.window, through: direction.sent - SteadyTraffic.rate, by: Self.window)
            return ends.compactMap { end in
                let window = end - Self.window..<end
                return disturbed.contains { $0.overlaps(window) } ? nil : direction.share(of: window)
            }
        }
    }

    /// Prints the progress.
    private func report(minute: Int) throws {
        let usage = try Usage()
        usages.append(usage)
        let (shares, counts) = (shares(), relay.counts)
        let mean = shares.reduce(0, +) / Double(max(1, shares.count))
        let intervals = handshakes.flatMap(\.intervals).map { Int($0 / .seconds(1)) }
        print(
            """
            minute \(minute): sent \(traffic.sent), arrived \(mean), least of a window \(shares.min() ?? 0), \
            seconds between handshakes \(intervals.suffix(4)), \(counts), \(usage)
            """
        )
        fflush(nil)
    }

    /// Checks the record of the whole run.
    private func check() {
        for direction in traffic.directions { #expect(direction.faults.isEmpty) }
        let shares = shares()
        #expect(shares.count >= seconds / 6, "\(shares.count) windows")
        #expect(shares.allSatisfy { $0 >= Self.leastShare }, "\(shares)")
        let mean = shares.reduce(0, +) / Double(shares.count)
        // Seven standard deviations of 20 seconds.
        #expect((0.92...0.985) ~= mean)
        let median = recoveries.sorted()[(recoveries.count - 1) / 2]
        #expect(median <= Self.ownRecoverySeconds * SteadyTraffic.rate, "\(recoveries)")
        let counts = relay.counts
        #expect(counts.lost > 0 && counts.duplicated > 0 && counts.reordered > 0, "\(counts)")
        let intervals = handshakes.flatMap(\.intervals)
        // A session is renewed after 120 seconds, and expires after 180; a correction of the clock may change an interval.
        #expect(intervals.allSatisfy { (.seconds(115) ... .seconds(180)) ~= $0 }, "\(intervals)")
        let replacements = (seconds - 1) / replacementSeconds
        let least = max(0, replacementSeconds - Self.settlingSeconds) / 180 * (replacements + 1)
        #expect(intervals.count >= 2 * least, "\(intervals)")
        // Both engines may begin the first handshake and the one after a replacement. Loss adds a repetition to one of ten.
        let sessions = 1 + seconds / 120 + replacements
        #expect(counts.initiations <= 3 * sessions + 10, "\(counts)")
    }
}
#endif
