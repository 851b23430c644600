public import Failures
public import Identity

/// The outcome of a broadcast that some peers did not confirm.
public struct BroadcastError: Error {
    /// The peers that have the message, ascending.
    public let delivered: [PeerId]
    /// Why each of the others did not confirm it.
    ///
    /// After `interrupted`, `timedOut` and `receiverBusy` a peer or some of its listeners may still have the message:
    /// one that is sent again may arrive twice.
    public let failures: [PeerId: any Error]
}

extension BroadcastError: CodedError, CustomStringConvertible {
    /// The number of peers that have the message, and the failures, a line each.
    public var description: String {
        let count = delivered.count + failures.count
        let lines = failures.sorted { $0.key < $1.key }.map { "peer \($0.key.short): \($0.value)" }
        return (["\(delivered.count) of \(count) peers have the message"] + lines).joined(separator: "\n")
    }

    package var failureCode: FailureCode {
        delivered.isEmpty
            ? FailureCode("not-delivered", .unknown, .unavailable)
            : FailureCode("partly-delivered", .unknown, .unavailable)
    }
}
