internal import Bytes

/// A cut between the nodes that are marked as cut off and all others.
struct Partition {
    /// When it ends, in nanoseconds; before the beginning when there was none.
    var end: Int64 = -1
    /// How long it lasts in all.
    var lasting: Int64 = 0
    /// Whether what those cut off send arrives all the same.
    var isOneWay = false
}

extension World {
    /// When something that is sent at `time` gets through: then, or at the end of a short partition; nil if that outlasts
    /// every connection.
    func passage(from source: Int, to target: Int, at time: Int64) -> Int64? {
        guard time < self.partition.end, self.nodes[source].isCutOff != self.nodes[target].isCutOff else { return time }
        if self.partition.isOneWay, self.nodes[source].isCutOff { return time }
        return self.partition.lasting < self.scenario.network.idleTimeout.nanoseconds ? self.partition.end : nil
    }

    /// Begins a partition: connections across it fall silent.
    mutating func cutOff(share: Double, lasting: Int64, isOneWay: Bool) {
        self.partition = Partition(end: self.queue.now + lasting, lasting: lasting, isOneWay: isOneWay)
        for node in self.nodes.indices {
            self.nodes[node].isCutOff = node != Population.owner && self.stepChance.decide(share)
            self.nodes[node].firstContact = nil
        }
        guard lasting >= self.scenario.network.idleTimeout.nanoseconds else { return }
        for slot in self.connections.slots {
            guard let connection = self.connections[slot] else { continue }
            let ends = [Int(connection.dialler.node), Int(connection.acceptor.node)]
            guard self.nodes[ends[0]].isCutOff != self.nodes[ends[1]].isCutOff else { continue }
            for node in ends { self.silence(slot, at: node) }
        }
    }
}
