#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// Members behind routers of every kind connect over a public one.
@Suite(
    "Routers of all kinds",
    .enabled(if: NatLab.obstacle == nil, Comment(rawValue: NatLab.obstacle ?? "")),
    .timeLimit(.minutes(LabExtent.isFull ? 120 : 15))
) struct MatrixTests {
    private static let patience = Duration.seconds(120)

    @Test func `members behind any two routers reach each other, and directly where that is possible`() async throws {
        let kinds = NatLab.Kind.translating
        let all = kinds.flatMap { first in kinds.map { Pair(first: first, second: $0) } }
        // The gate has time for an easy pair, one with a surprise, and the one that always needs a relay.
        let short: [Pair] = [
            Pair(first: .portRestricted, second: .portRestricted), Pair(first: .symmetric, second: .addressRestricted),
            Pair(first: .symmetric, second: .symmetric),
        ]
        let pairs = LabExtent.isFull ? all : short
        let results = try await Self.hold(pairs.flatMap { Array(repeating: $0, count: LabExtent.repetitions) })
        LabExtent.printTable(
            "members behind two routers (10 ms each way to a public member; a round trip over it takes 40 ms)",
            [ConnectionResult.headings]
                + pairs.map { pair in ConnectionResult.row(pair, results.filter { $0.pair == pair }) }
        )
        let easy = results.filter { $0.pair.isEasy }.compactMap(\.direct).sorted()
        if !easy.isEmpty {
            let late = easy[min(easy.count - 1, easy.count * 95 / 100)]
            print("easy pairs: direct after \(LabExtent.text(late)) s at most in 95 of 100 (3 RTT + 250 ms: 0.37)")
        }
        for result in results {
            #expect(result.connected != nil && result.isHeard, "\(result.pair): not connected")
            if result.pair.isEasy { #expect(result.direct != nil, "\(result.pair): not direct") }
        }
        for pair in pairs where pair.needsSearch {
            // Two rounds find each other in 98 of 100 cases.
            let held = results.filter { $0.pair == pair }
            #expect(held.count { $0.direct != nil } * 10 >= held.count * 7, "\(pair)")
        }
    }

    /// Holds meetings, a few at the same time.
    private static func hold(_ pairs: [Pair]) async throws -> [ConnectionResult] {
        try await withThrowingTaskGroup(of: ConnectionResult.self) { group in
            var waiting = pairs[...]
            for _ in 0..<4 {
                if let pair = waiting.popFirst() {
                    group.addTask { try await ConnectionResult(pair, within: patience) }
                }
            }
            var held: [ConnectionResult] = []
            while let result = try await group.next() {
                held.append(result)
                if let pair = waiting.popFirst() {
                    group.addTask { try await ConnectionResult(pair, within: patience) }
                }
            }
            return held
        }
    }
}

/// Two kinds of routers: that of the device which asks for the connection, and the other one's.
private struct Pair: Hashable, Sendable, CustomStringConvertible {
    let first: NatLab.Kind
    let second: NatLab.Kind

    private var isNeverDirect: Bool { first == .symmetric && second == .symmetric }
    /// One side's port must be found by chance.
    var needsSearch: Bool {
        Set([first, second]) == [.symmetric, .portRestricted]
    }
    var isEasy: Bool { !isNeverDirect && !needsSearch }
    var description: String { "\(first) x \(second)" }
}

private struct ConnectionResult: Sendable {
    static let headings = ["", "", "connected", "direct", "connected after", "direct after", "longest"]

    let pair: Pair
    let connected: Duration?
    let direct: Duration?
    /// Whether a message arrived.
    let isHeard: Bool

    init(_ pair: Pair, within patience: Duration) async throws {
        self.pair = pair
        let encounter = try await Encounter(.init(pair.first), .init(pair.second))
        // Where no path is found by design, the wait is short.
        let isHopeless = !pair.isEasy && !pair.needsSearch
        (connected, direct) = try await encounter.connect(within: isHopeless ? .seconds(8) : patience)
        guard connected != nil else {
            isHeard = false
            return
        }
        let traffic = try await Traffic.flowing(from: encounter.second, to: encounter.first) {}
        isHeard = traffic.lost == 0 && traffic.failures.isEmpty
    }

    static func row(_ pair: Pair, _ results: [Self]) -> [String] {
        let connected = results.compactMap(\.connected).sorted()
        let direct = results.compactMap(\.direct).sorted()
        let middle = { (times: [Duration]) in times.isEmpty ? "-" : LabExtent.text(times[times.count / 2]) }
        return [
            "\(pair.first)", "\(pair.second)", "\(connected.count)/\(results.count)",
            "\(direct.count)/\(results.count)", middle(connected), middle(direct),
            direct.last.map(LabExtent.text) ?? "-",
        ]
    }
}
#endif
