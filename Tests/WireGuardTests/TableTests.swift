internal import TestSupport
internal import Testing

@testable internal import WireGuard

@Suite("Deadlines, waiting packets and time") struct TableTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the heap returns the deadlines in the order of a sorted list`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var heap = DeadlineHeap()
        var naive: [Int: Duration] = [:]
        for step in 0..<5_000 {
            let peer = Int.random(in: 0..<50, using: &random)
            let time = Duration.milliseconds(Int.random(in: 0..<1_000, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0..<4:
                heap.advance(peer, to: time)
                naive[peer] = min(naive[peer] ?? time, time)
            case 4:
                heap.remove(peer)
                naive[peer] = nil
            default:
                let popped = heap.popFirst(at: time)
                #expect((popped != nil) == naive.values.contains { $0 <= time }, "seed \(seed), step \(step)")
                if let popped {
                    #expect(naive[popped] == naive.values.min(), "seed \(seed), step \(step)")
                    naive[popped] = nil
                }
            }
            #expect(heap.first == naive.values.min() && heap.deadline(of: peer) == naive[peer], "seed \(seed)")
        }
    }

    @Test func `the oldest waiting packet of a peer yields to a new one`() {
        var staged = StagedPackets(peerLimit: 3, limit: 100, byteLimit: 1_000)
        for number in 0..<5 { staged.append([UInt8(number)], for: 7) }
        #expect(staged.count == 3 && staged.byteCount == 3)
        #expect(staged.removeAll(of: 7) == [[2], [3], [4]])
        #expect(!staged.contains(7) && staged.count == 0 && staged.byteCount == 0)
    }

    @Test func `the oldest waiting packet of all peers yields beyond the common bounds`() {
        var staged = StagedPackets(peerLimit: 100, limit: 4, byteLimit: 10)
        for peer in 0..<6 { staged.append([UInt8(peer)], for: peer) }
        #expect(staged.count == 4 && !staged.contains(0) && !staged.contains(1))
        staged.append([UInt8](repeating: 9, count: 9), for: 6)
        #expect(staged.byteCount == 10 && staged.count == 2 && staged.contains(5) && staged.contains(6))
        staged.append([UInt8](repeating: 9, count: 11), for: 7)
        #expect(!staged.contains(7))
        for _ in 0..<1_000 {
            staged.append([1], for: 1)
            _ = staged.removeAll(of: 1)
        }
        #expect(staged.orderCount <= 8)
    }

    @Test func `a timestamp grows although the wall clock stands or goes back`() {
        var last = Timestamp(wall: .seconds(1_000), after: .none)
        for wall in [1_000, 1_000, 500, 0, -5, 1_000] {
            let next = Timestamp(wall: .seconds(wall), after: last)
            #expect(next > last)
            last = next
        }
        #expect(Timestamp(wall: .seconds(1_002), after: last) > last)
        #expect(Timestamp(last.bytes) == last && Timestamp([1]) == nil)
    }

    @Test func `sleep that the monotonic clock misses counts as elapsed time`() {
        var elapsed = ElapsedTime()
        func moment(_ monotonic: Int, _ wall: Int) -> Moment {
            Moment(monotonic: .seconds(monotonic), wall: .seconds(wall))
        }
        let moments = [moment(10, 5_000), moment(20, 5_010), moment(21, 8_611)]
        #expect(moments.map { elapsed.advance(to: $0) } == [.seconds(10), .seconds(20), .seconds(3_621)])
        #expect(elapsed.monotonic(of: .seconds(3_625)) == .seconds(25))
        // The wall clock goes back.
        let later = [moment(22, 100), moment(23, 101)]
        #expect(later.map { elapsed.advance(to: $0) } == [.seconds(3_622), .seconds(3_623)])
    }
}
