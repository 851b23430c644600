internal import Identity
internal import Testing

@testable internal import Traversal

@Suite("Reaching through every pair of NATs") struct MatrixTests {
    private static let seeds = 20

    /// Which pairs find a way only by trying many ports.
    private static func needsSearch(_ first: SiteNAT.Kind, _ second: SiteNAT.Kind) -> Bool {
        Set([first, second]) == [.portRestricted, .symmetric]
    }

    @Test func `15 of 16 pairs become direct, and the last one is relayed`() throws {
        var easyTimes: [(time: Duration, excess: Duration)] = []
        var searched: [Duration] = []
        var searchRuns = 0
        for first in SiteNAT.Kind.all {
            for second in SiteNAT.Kind.all {
                var direct = 0
                var connected = 0
                var longest = Duration.zero
                for seed in 1...Self.seeds {
                    let world = try World(pair: (first, second), seed: UInt64(seed), loss: 0.01)
                    world.seek()
                    let time = world.timeToDirect()
                    connected += world.isConnected() ? 1 : 0
                    direct += time == nil ? 0 : 1
                    longest = max(longest, time ?? .zero)
                    if first == .symmetric, second == .symmetric {
                        #expect(world.isRelayed(), "\(world.story())")
                    } else if Self.needsSearch(first, second) {
                        searchRuns += 1
                        if let time { searched.append(time) }
                    } else if let time {
                        easyTimes.append((time, time - world.relayedRoundTrip * 3))
                    } else {
                        Issue.record("\(first) x \(second), seed \(seed):\n\(world.story())")
                    }
                }
                #expect(connected == Self.seeds)
                print("\(first) x \(second): direct \(direct) of \(Self.seeds), longest \(longest)")
            }
        }
        let excess = easyTimes.map(\.excess).sorted()
        let p95 = excess[excess.count * 95 / 100]
        let times = easyTimes.map(\.time).sorted()
        print("easy pairs: p50 \(times[times.count / 2]), p95 \(times[times.count * 95 / 100]),")
        print("p95 beyond 3 relayed round trips: \(p95)")
        print("birthday pairs: direct \(searched.count) of \(searchRuns), longest \(searched.max() ?? .zero)")
        #expect(p95 <= .milliseconds(250))
        #expect(searched.count >= searchRuns * 9 / 10)
    }

    @Test func `one common peer is enough: whether a NAT kept the port tells how it chooses ports`() throws {
        for first in SiteNAT.Kind.all {
            for second in SiteNAT.Kind.all where first != .symmetric || second != .symmetric {
                for seed in 4...5 {
                    let world = try World(pair: (first, second), seed: UInt64(seed), helperCount: 1)
                    world.seek()
                    #expect(world.timeToDirect() != nil, "\(first) x \(second), seed \(seed):\n\(world.story())")
                }
            }
        }
    }
}
