internal import Identity

// The failure of a join, as a close code.
extension JoinFailure {
    /// Creates the failure that a close code of the inviter means to a joiner; nil is a connection that just broke.
    init(_ code: CloseCode?) {
        switch code {
        case nil, .shutdown: self = .gone
        case .joinRefused: self = .unknown
        case .invitationExpired: self = .expired
        case .invitationUsed: self = .used
        case .invitationBurnt: self = .burnt
        case .invitationWithdrawn: self = .withdrawn
        case .joinDeclined: self = .declined
        case .joinUndecided: self = .undecided
        case .revoked: self = .revoked
        case let other?: self = .other(other.explanation)
        }
    }

    /// The close code that the inviter sends to a joiner.
    var code: CloseCode {
        switch self {
        case .expired: .invitationExpired
        case .used: .invitationUsed
        case .burnt: .invitationBurnt
        case .withdrawn: .invitationWithdrawn
        case .declined: .joinDeclined
        case .undecided: .joinUndecided
        case .revoked: .revoked
        case .unknown, .unreachable, .gone, .own, .underWay, .other: .joinRefused
        }
    }

    /// The failure in the inviter's words about the joiner.
    var ofJoiner: String {
        switch self {
        case .expired: "the invitation that it showed has expired"
        case .used: "the invitation that it showed was used before"
        case .burnt: "the invitation that it showed had ended after five wrong proofs"
        case .withdrawn: "the invitation that it showed was withdrawn"
        case .unknown, .unreachable, .gone, .own, .underWay, .declined, .undecided, .revoked, .other:
            "its proof fits no invitation of this device"
        }
    }
}
