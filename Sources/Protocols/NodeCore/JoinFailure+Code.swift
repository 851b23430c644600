internal import Identity

// What a refused joiner is told, as a code.
extension JoinFailure {
    /// What a code of the inviter's means to a joiner; nil when the connection just broke.
    init(_ code: CloseCode?) {
        switch code {
        case nil, .goodbye: self = .gone
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

    /// What the inviter tells a joiner.
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
        case .expired: "the invitation it came with has expired"
        case .used: "the invitation it came with was used before"
        case .burnt: "the invitation it came with had ended after five wrong proofs"
        case .withdrawn: "the invitation it came with was taken back"
        case .unknown, .unreachable, .gone, .own, .underWay, .declined, .undecided, .revoked, .other:
            "its proof fits no invitation of this device"
        }
    }
}
