public import Failures
internal import Identity

/// Why a request came to nothing.
public enum KademliaError: Error, Hashable, Sendable {
    /// The deadline passed before enough nodes had answered; nothing is known about the record.
    case timedOut(answered: Int)
    /// No other member is connected or known, and this node does not store what was requested.
    case isolated
    /// A value above the limit, in bytes.
    case valueTooLarge(limit: Int, found: Int)
    /// A key that is empty or above the limit, in bytes.
    case invalidKey(limit: Int, found: Int)
    /// A lifetime that is not positive or above the limit.
    case invalidLifetime(limitSeconds: UInt64)
    /// The condition did not hold; the newest record is this one, nil when there is none.
    case conflict(current: Revision?)
    /// This node may not write more: its own bound, or the replicas' quota for one member.
    case overQuota
    /// The replicas refused the record, because this machine's clock differs too much from theirs.
    case clockDiffers
    /// This node could not store the record on disk, so it was not sent to others.
    case notStored
    /// This node has no valid token of the network.
    case notAMember
    /// This node has `limit` requests under way already.
    case tooManyRequests(limit: Int)
    /// The node stops.
    case stopped
    /// This node takes no part in hash tables.
    case switchedOff
    /// The peer key could not sign.
    case signingFailed
}

extension KademliaError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .timedOut(let answered):
            "not enough members answered in time (\(answered) did); try again or allow a longer deadline"
        case .isolated: "no other member of the network can be reached; connect to one and try again"
        case .valueTooLarge(let limit, let found):
            "the value has \(found) bytes, at most \(limit) are allowed; store the data elsewhere and put a reference"
        case .invalidKey(let limit, let found): "the key has \(found) bytes, it must have 1 to \(limit)"
        case .invalidLifetime(let limit): "the lifetime must be from 1 to \(limit) seconds"
        case .conflict(let current?):
            "the newest record is version \(current.version) by \(current.writer.short); read it again first"
        case .conflict(nil): "there is no record to replace; put it without a condition"
        case .overQuota: "this device has stored as much as the network allows; delete something or let it expire"
        case .clockDiffers: "the other members' clocks differ from this device's by more than an hour; set its clock"
        case .notStored: "this device could not store the value: free space on its disk and try again"
        case .notAMember: "this device has no valid access token of the network; ask its owner for one"
        case .tooManyRequests(let limit): "\(limit) requests are under way already; wait for one to finish"
        case .stopped: "the node is stopping"
        case .switchedOff: "this device is set to take no part in its networks' hash tables"
        case .signingFailed: "the device key could not sign the record"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .timedOut: FailureCode("timed-out", .unknown, .tryAgain)
        case .isolated: FailureCode("no-member-reachable", .unknown, .unavailable)
        case .valueTooLarge: FailureCode("too-large", .unknown, .data)
        case .invalidKey: FailureCode("bad-key", .unknown, .data)
        case .invalidLifetime: FailureCode("bad-lifetime", .unknown, .usage)
        case .conflict: FailureCode("conflict", .unknown, .notPermitted, http: 409)
        case .overQuota: FailureCode("over-quota", .unknown, .notPermitted)
        case .clockDiffers: FailureCode("clock-differs", .unknown, .configuration)
        case .notStored: FailureCode("state", .unknown, .inputOutput)
        case .notAMember: FailureCode("not-a-member", .unknown, .notPermitted)
        case .tooManyRequests, .stopped: FailureCode("busy", .unknown, .tryAgain)
        case .switchedOff: FailureCode("switched-off", .unknown, .configuration)
        case .signingFailed: FailureCode("signing-failed", .unknown, .software)
        }
    }
}

extension KademliaError: TimedError {
    package func commandMessage(showing time: (UInt64) -> String) -> String {
        guard case .conflict(let current?) = self else { return commandMessage }
        let text = time(current.version / 1_000_000)
        return "\(current.writer.short) stored another value at \(text): read it again first"
    }
}
