internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport

// The state of a swarm seen from outside, and its speed.
extension Swarm {
    /// A network that has grown and settled.
    static func settled(_ count: Int, seed: UInt64, loss: Double = 0) throws -> Swarm {
        let swarm = Swarm(seed: seed)
        swarm.loss = loss
        try swarm.grow(to: count)
        swarm.run(for: .seconds(60))
        return swarm
    }

    /// Returns the share of running nodes that know at least `count` of their 20 nearest running nodes, or all of them.
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
        return "\(healths.count) nodes after \(self.now): know all 20: \(self.shareKnowingNeighbours(atLeast: 20)), "
            + "18: \(self.shareKnowingNeighbours(atLeast: 18)), contacts \(mean(\.contacts)), "
            + "connected \(mean(\.connected)), of the nearest \(mean(\.connectedNeighbours)), "
            + "\(self.messageCount) messages, \(self.byteCount) bytes, \(self.dialCount) dials"
    }

    struct Figures: CustomStringConvertible {
        var count = 0
        var right = 0
        var failed = 0
        var hops: [Int] = []
        var took: [Duration] = []
        var queries: [Int] = []

        var description: String {
            "\(self.count) lookups, right \(self.right), failed \(self.failed), hops \(percentiles(self.hops)), "
                + "questions \(percentiles(self.queries)), took \(percentiles(self.took))"
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
            guard let result = self.query(.nearest(to: target), at: node), case .peers(let peers) = result.outcome
            else {
                figures.failed += 1
                continue
            }
            let truth = self.nearest(to: target, count: 20, excluding: node).map { self.nodes[$0].peerId }
            if peers.map(\.peerId) == truth { figures.right += 1 }
            figures.hops.append(result.effort.hops)
            figures.queries.append(result.effort.queries)
            figures.took.append(result.took)
            self.run(for: .milliseconds(100))
        }
        return figures
    }

    /// Writes records from random nodes and returns their names.
    func putMany(_ count: Int) throws -> [RecordId] {
        (0..<count).compactMap { index in
            guard let node = self.running.randomElement(using: &self.random) else { return nil }
            let key = Array("many \(index)".utf8)
            _ = self.query(.put(key: key, value: [1], lifetimeSeconds: 7 * 86_400), at: node)
            return RecordId(location: Record.location(of: key, in: self.network.id), writer: self.nodes[node].peerId)
        }
    }

    /// Returns, for each record, the number of the 20 nearest running nodes that hold it.
    func replicas(of records: [RecordId]) -> [Int] {
        let running = self.running
        return records.map { id in
            self.nearest(to: id.location, count: 20, among: running)
                .count { self.nodes[$0].table.storedVersion(of: id) != nil }
        }
    }

    func measurePuts(_ count: Int) -> String {
        var took: [Duration] = []
        var replicas: [Int] = []
        var failed = 0
        for index in 0..<count {
            guard let node = self.running.randomElement(using: &self.random) else { continue }
            let request = Kademlia.Request.put(key: Array("key \(index)".utf8), value: [1], lifetimeSeconds: 86_400)
            guard let result = self.query(request, at: node), case .stored(_, let count) = result.outcome else {
                failed += 1
                continue
            }
            took.append(result.took)
            replicas.append(count)
            self.run(for: .milliseconds(100))
        }
        return "failed \(failed), holders \(percentiles(replicas)), took \(percentiles(took))"
    }

    func measureGets(_ count: Int, _ reading: Kademlia.Reading) -> String {
        var took: [Duration] = []
        var first: [Duration] = []
        var hops: [Int] = []
        var failed = 0
        for index in 0..<count {
            guard let node = self.running.randomElement(using: &self.random) else { continue }
            let policy = Kademlia.RequestPolicy(reading: reading)
            guard let result = self.query(.get(key: Array("key \(index)".utf8)), at: node, policy: policy),
                case .found(let records) = result.outcome, records.count == 1
            else {
                failed += 1
                continue
            }
            took.append(result.took)
            hops.append(result.effort.hops)
            first.append(result.effort.firstResult ?? .zero)
            self.run(for: .milliseconds(100))
        }
        return "failed \(failed), hops \(percentiles(hops)), first \(percentiles(first)), took \(percentiles(took))"
    }
}

/// The 50th, 90th and 99th percentile.
func percentiles<Value: Comparable>(_ values: [Value]) -> String {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return "-" }
    let parts = [50, 90, 99].map { "p\($0) \(sorted[min(sorted.count - 1, sorted.count * $0 / 100)])" }
    return parts.joined(separator: " ")
}
