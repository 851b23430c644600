public import Identity

/// What became of a broadcast that not everybody confirmed.
public struct BroadcastError: Error {
    /// Who has the message, ascending.
    public let delivered: [PeerId]
    /// Why each of the others did not confirm it.
    ///
    /// After `interrupted`, `timedOut` and `receiverBusy` a peer may have the message all the same, or some of its
    /// listeners may: whoever sends it again must expect it to arrive twice.
    public let failures: [PeerId: any Error]
}

extension BroadcastError: CustomStringConvertible {
    /// How many have the message, and the failures, a line each.
    public var description: String {
        let count = self.delivered.count + self.failures.count
        let lines = self.failures.sorted { $0.key < $1.key }.map { "peer \($0.key.short): \($0.value)" }
        return (["\(self.delivered.count) of \(count) peers have the message"] + lines).joined(separator: "\n")
    }
}
