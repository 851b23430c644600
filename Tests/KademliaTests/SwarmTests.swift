internal import Bytes
internal import Identity
internal import Kademlia
internal import Testing

@Suite("Swarms") struct SwarmTests {
    @Test(arguments: [2, 3, 20, 100]) func `every node of a small network knows its nearest`(count: Int) throws {
        let swarm = try Swarm.settled(count, seed: 1)
        print(swarm.summary)
        #expect(swarm.shareKnowingNeighbours(atLeast: 20) == 1)
    }

    @Test func `lookups in a network of 300 return the true nearest`() throws {
        let swarm = try Swarm.settled(300, seed: 2)
        print(swarm.summary)
        let figures = swarm.measureLookups(100)
        print(figures)
        #expect(swarm.shareKnowingNeighbours(atLeast: 18) >= 0.99)
        #expect(figures.rightShare >= 0.99)
    }
}

extension Swarm {
    /// A network that has grown and come to rest.
    static func settled(_ count: Int, seed: UInt64, gap: Duration = .milliseconds(100)) throws -> Swarm {
        let swarm = Swarm(seed: seed)
        try swarm.grow(to: count, gap: gap)
        swarm.run(for: .seconds(60))
        return swarm
    }

    /// The share of running nodes that know all, or at least so many, of their nearest running ones.
    func shareKnowingNeighbours(atLeast count: Int) -> Double {
        let running = self.running
        let knowing = running.count { node in
            let truth = self.nearest(to: self.nodes[node].peerId.words, count: 20, excluding: node, among: running)
            let known = Set(self.nodes[node].table.neighbours.map(\.peerId))
            return truth.count { known.contains(self.nodes[$0].peerId) } >= min(count, truth.count)
        }
        return Double(knowing) / Double(max(1, running.count))
    }

    var summary: String {
        let healths = self.running.map { self.nodes[$0].table.health }
        func mean(_ value: (Kademlia.Health) -> Int) -> Double {
            (Double(healths.map(value).reduce(0, +)) / Double(max(1, healths.count)) * 10).rounded() / 10
        }
        return "\(healths.count) nodes at \(self.now): all 20: \(self.shareKnowingNeighbours(atLeast: 20)), "
            + "18: \(self.shareKnowingNeighbours(atLeast: 18)), contacts \(mean(\.contacts)), "
            + "connected \(mean(\.connected)), near \(mean(\.connectedNeighbours)), buckets \(mean(\.buckets)), "
            + "\(self.messageCount) messages, \(self.byteCount) bytes, \(self.dialCount) dials"
    }

    struct Figures: CustomStringConvertible {
        var count = 0
        var right = 0
        var failed = 0
        var hops: [Int] = []
        var took: [Duration] = []
        var questions: [Int] = []

        var rightShare: Double { Double(self.right) / Double(max(1, self.count)) }

        var description: String {
            "\(self.count) lookups, right \(self.right), failed \(self.failed), hops \(percentiles(self.hops)), "
                + "questions \(percentiles(self.questions)), took \(percentiles(self.took))"
        }
    }

    /// Lookups of random locations from random nodes, one after another.
    func measureLookups(_ count: Int) -> Figures {
        var figures = Figures()
        for _ in 0..<count {
            guard let node = self.running.randomElement(using: &self.random),
                let target = Bytes32(self.random.bytes(32))
            else { continue }
            figures.count += 1
            guard let result = self.ask(.nearest(to: target), at: node), case .peers(let peers) = result.outcome else {
                figures.failed += 1
                continue
            }
            let truth = self.nearest(to: target, count: 20, excluding: node).map { self.nodes[$0].peerId }
            if peers.map(\.peerId) == truth { figures.right += 1 }
            figures.hops.append(result.effort.hops)
            figures.questions.append(result.effort.questions)
            figures.took.append(result.took)
            self.run(for: .milliseconds(100))
        }
        return figures
    }
}

/// The 50th, 90th and 99th percentile.
func percentiles<Value: Comparable>(_ values: [Value]) -> String {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return "-" }
    let parts = [50, 90, 99].map { "p\($0) \(sorted[min(sorted.count - 1, sorted.count * $0 / 100)])" }
    return parts.joined(separator: " ")
}
