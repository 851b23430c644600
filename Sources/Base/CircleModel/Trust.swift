/// The trust between this device's person and one other person, as a value without I/O.
///
/// Trust needs the consent of both: each has invited the other one, or accepted the other one's request. It ends by
/// a revocation alone, and returns only if this person invites the other one again, or lifts a block and accepts a
/// request. A person who did not revoke still trusts: that person's device consents to the new invitation without a
/// question. The state is stored before the effects are performed, and each start repeats the effects of a revocation, so
/// a crash between them leaves none out.
public struct Trust: Hashable, Sendable {
    /// The state of the trust in one person.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// No message was exchanged. Can transition to `invited`, `requested` or `revoked`.
        case none
        /// This person asked the other one. Can transition to `trusted`, `none` or `revoked`.
        case invited
        /// The other person asks. Can transition to `trusted`, `none` or `revoked`.
        case requested
        /// Both consented. Can transition to `revoked`.
        case trusted
        /// This person revoked the trust; nothing of the other person is taken. Can transition to `invited`, or to `none` if a
        /// block is lifted.
        case revoked
    }

    /// An event of the trust in one person.
    package enum Input: Hashable, Sendable, CaseIterable {
        /// The device starts.
        case start
        /// This person invites the other one, or accepts the request.
        case invite
        /// This person declines the request.
        case decline
        /// This person revokes the trust.
        case revoke
        /// This person lifts the block of the other one.
        case unblock
        /// The other person asks for trust.
        case requestReceived
        /// The other person accepts this one's request.
        case acceptReceived
        /// The other person declines this one's request.
        case declineReceived
    }

    /// An action for the device, in order; each may be performed more than once.
    package enum Effect: Hashable, Sendable {
        /// Send this person's card with a request, until it is answered.
        case sendRequest
        /// Send this person's card as the consent.
        case sendAccept
        /// Send that this person declines.
        case sendDecline
        /// Exchange one-time keys with each device of the person.
        case exchangeKeys
        /// Close the connections to the person's devices, and refuse new ones.
        case banDevices
        /// Allow connections to the person's devices again.
        case liftBan
        /// Delete the pools of both directions with each device of the person.
        case destroyKeys
        /// Delete the mail from and to the person, and its place in every stream.
        case dropMail
        /// Refuse the message of the other person.
        case refuse
        /// Report a change to observers.
        case report(Change)
    }

    /// A change that observers are notified of.
    public enum Change: Hashable, Sendable {
        /// The other person asks for trust.
        case requested
        /// Both consented.
        case trusted
        /// The other person declined.
        case declined
        /// This person revoked the trust (`peerTrustRevoked`).
        case peerTrustRevoked
    }

    /// The present state.
    public private(set) var state: State

    package init(_ state: State = .none) {
        self.state = state
    }

    /// Applies an input and returns the effects, to be performed once the state is stored.
    package mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.revoked, .start): return Self.cleanup
        case (.invited, .start): return [.sendRequest]
        case (.none, .start), (.requested, .start), (.trusted, .start): return []

        case (.none, .invite): return become(.invited, [.sendRequest])
        case (.invited, .invite): return [.sendRequest]
        case (.requested, .invite): return become(.trusted, [.sendAccept, .exchangeKeys, .report(.trusted)])
        case (.trusted, .invite): return []
        case (.revoked, .invite): return become(.invited, [.liftBan, .sendRequest])

        case (.requested, .decline): return become(.none, [.sendDecline])
        case (.none, .decline), (.invited, .decline), (.trusted, .decline), (.revoked, .decline): return []

        case (.revoked, .revoke): return Self.cleanup
        case (.none, .revoke), (.invited, .revoke), (.requested, .revoke), (.trusted, .revoke):
            return become(.revoked, Self.cleanup + [.report(.peerTrustRevoked)])

        case (.revoked, .unblock): return become(.none, [.liftBan])
        // A crash may have occurred before the ban was lifted.
        case (.none, .unblock): return [.liftBan]
        case (.invited, .unblock), (.requested, .unblock), (.trusted, .unblock): return []

        case (.none, .requestReceived): return become(.requested, [.report(.requested)])
        case (.invited, .requestReceived): return become(.trusted, [.sendAccept, .exchangeKeys, .report(.trusted)])
        case (.requested, .requestReceived): return []
        // The other one did not receive the consent.
        case (.trusted, .requestReceived): return [.sendAccept]
        case (.revoked, .requestReceived): return [.refuse]

        case (.invited, .acceptReceived): return become(.trusted, [.exchangeKeys, .report(.trusted)])
        case (.trusted, .acceptReceived): return []
        case (.none, .acceptReceived), (.requested, .acceptReceived), (.revoked, .acceptReceived): return [.refuse]

        case (.invited, .declineReceived): return become(.none, [.report(.declined)])
        case (.none, .declineReceived), (.requested, .declineReceived), (.trusted, .declineReceived),
            (.revoked, .declineReceived):
            return []
        }
    }

    /// The effects of a revocation: first those that stop new messages, then those that delete data.
    private static let cleanup: [Effect] = [.banDevices, .destroyKeys, .dropMail]

    private mutating func become(_ state: State, _ effects: [Effect]) -> [Effect] {
        self.state = state
        return effects
    }
}
