/// The state of an exchange of one-time keys, in the terms of the app that defined the protocol.
public enum KeyExchangeState: Hashable, Sendable {
    /// Nothing was begun.
    case idle
    /// This device asked for an exchange.
    case requestSent
    /// This device was asked, and proved its identity.
    case offerSent
    /// This device proved its identity, and waits for the commit.
    case ackSent
    /// Both identities are proved, and this device sent the commit; the pools are under way.
    case commitSent
    /// Both identities are proved, and this device received the commit; the pools are under way.
    case commitReceivedWaitingForKeys
    /// Each device has the other one's keys.
    case completed
    /// The exchange failed; earlier pools stay as they were.
    case failed(KeyExchangeFailure)
}

extension KeyExchangeState: CustomStringConvertible {
    /// The name of the case.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .requestSent: "requestSent"
        case .offerSent: "offerSent"
        case .ackSent: "ackSent"
        case .commitSent: "commitSent"
        case .commitReceivedWaitingForKeys: "commitReceivedWaitingForKeys"
        case .completed: "completed"
        case .failed: "failed"
        }
    }
}

/// The reasons for which an exchange failed.
public enum KeyExchangeFailure: Error, Hashable, Sendable {
    /// The peer was silent for five minutes.
    case timedOut
    /// The peer proved another identity than the requested one, or its proof is not valid.
    case invalidProof
    /// The peer's pool differs from its announcement.
    case invalidShare
    /// Both devices support no common kind of keys.
    case noCommonSuite
    /// The peer has forgotten the exchange, so it was started again.
    case forgotten
    /// Too many exchanges were begun in a short time.
    case tooMany
    /// The peer refused a message of this device.
    case refused
    /// This device could not sign, or could not make or store its keys.
    case localFailure
}

extension KeyExchangeFailure: CustomStringConvertible {
    /// The failure in words, with the next step.
    public var description: String {
        switch self {
        case .timedOut: "the peer was silent for five minutes; connect with it, and exchange keys again"
        case .invalidProof: "the peer did not prove that it is who it claims to be; no keys were taken from it"
        case .invalidShare: "the peer sent other keys than it had signed; no keys were taken from it"
        case .noCommonSuite: "the peer supports none of this device's kinds of keys; update the older program"
        case .forgotten: "the peer was restarted; exchange keys again"
        case .tooMany: "too many exchanges were begun; try again in ten minutes"
        case .refused: "the peer refused this device's proof or keys; update the older program"
        case .localFailure: "this device could not make or store its keys; see the log"
        }
    }
}
