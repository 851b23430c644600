public import Failures

/// Why a join by an invitation failed.
///
/// The inviter reports the reason to a joiner that has the secret, and only ``unknown`` to all others.
public enum JoinFailure: Error, Hashable, Sendable {
    /// The proof fits no invitation that the inviter remembers.
    case unknown
    /// The invitation's time was over.
    case expired
    /// A joiner used the invitation, or tried to, before.
    case used
    /// Five wrong proofs were shown to the inviter, which then burnt its invitations.
    case burnt
    /// The inviter took the invitation back.
    case withdrawn
    /// The inviter's person said no.
    case declined
    /// The inviter's person did not say anything in time.
    case undecided
    /// The network's owner revoked this device before.
    case revoked
    /// No peer with the inviter's key answered at the addresses of the invitation; with the last failure.
    case unreachable(String)
    /// The inviter was there and went away before it decided.
    case gone
    /// The invitation is this device's own.
    case own
    /// Another join through the same inviter is under way.
    case underWay
    /// Anything else; in words.
    case other(String)
}

extension JoinFailure: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .unknown:
            "the inviter does not know this invitation: it ended more than an hour ago, or the node there was"
                + " restarted; ask for a new one"
        case .expired: "this invitation has expired: ask for a new one"
        case .used:
            "this invitation was used before, and each works once: ask for a new one. Tell the inviter if you do not"
                + " know who used it"
        case .burnt:
            "the inviter received five wrong proofs, which ended this invitation: ask for a new one"
        case .withdrawn: "the inviter withdrew this invitation: ask for a new one"
        case .declined: "the inviter declined: ask the person there for a new invitation"
        case .undecided: "the inviter did not decide in time: ask for a new invitation when a person is there"
        case .revoked:
            "the network's owner revoked this device for good: it can join only with a new key"
        case .unreachable(let why):
            "the inviter was not reached at the addresses in the invitation\(why.isEmpty ? "" : " (\(why))"): check"
                + " that it is still waiting and reachable from this device"
        case .gone: "the inviter disconnected before it decided: ask for a new invitation"
        case .own: "this device made this invitation itself: use it on the device that is to join"
        case .underWay: "another join through this inviter is in progress: wait until it ends"
        case .other(let why): "the join failed: \(why)"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .unknown: FailureCode("invitation-unknown", .unknown, .data)
        case .expired: FailureCode("invitation-expired", .unknown, .data)
        case .used: FailureCode("invitation-used", .unknown, .data)
        case .burnt: FailureCode("invitation-burnt", .unknown, .data)
        case .withdrawn: FailureCode("invitation-withdrawn", .unknown, .data)
        case .own: FailureCode("invitation-own", .unknown, .data)
        case .declined: FailureCode("join-declined", .unknown, .notPermitted)
        case .revoked: FailureCode("revoked", .unknown, .notPermitted)
        case .undecided: FailureCode("join-undecided", .unknown, .tryAgain)
        case .underWay: FailureCode("join-under-way", .unknown, .tryAgain)
        case .unreachable: FailureCode("inviter-unreachable", .unknown, .unavailable)
        case .gone: FailureCode("inviter-gone", .unknown, .unavailable)
        case .other: FailureCode("join-failed", .unknown, .tryAgain)
        }
    }

    package var commandMessage: String {
        self == .revoked ? "\(self), which `runar keys renew-device` makes" : "\(self)"
    }
}
