/// One way between two nodes.
struct Way {
    let source: Int
    let target: Int
    /// On which side of a partition the two are.
    let isSourceCutOff: Bool
    let isTargetCutOff: Bool
}

/// A cut between the nodes that are marked as cut off and all others.
struct Partition {
    /// The time at which it ends, in nanoseconds; before the beginning when there was none.
    var end: Int64 = -1
    /// The length of the whole partition.
    var lasting: Int64 = 0
    /// Whether datagrams from the nodes that are cut off still arrive.
    var isOneWay = false

    /// Whether something that is sent at `time` does not get through before the end.
    func blocks(_ way: Way, at time: Int64) -> Bool {
        guard time < end, way.isSourceCutOff != way.isTargetCutOff else { return false }
        return !(isOneWay && way.isSourceCutOff)
    }
}
