internal import Testing

@testable internal import Circle

@Suite("Trust in a person") struct TrustTests {
    private static let cleanup: [Trust.Effect] = [.banDevices, .destroyKeys, .dropMail]

    private struct Outcome: Equatable {
        let state: Trust.State
        let effects: [Trust.Effect]

        init(_ state: Trust.State, _ effects: [Trust.Effect]) {
            self.state = state
            self.effects = effects
        }
    }

    /// Applies inputs to a new value and returns the effects of the last one.
    private func after(_ inputs: Trust.Input...) -> Outcome {
        var trust = Trust()
        var effects: [Trust.Effect] = []
        for input in inputs { effects = trust.handle(input) }
        return Outcome(trust.state, effects)
    }

    @Test func `an invitation and its acceptance make trust`() {
        #expect(after(.invite) == Outcome(.invited, [.sendRequest]))
        #expect(after(.invite, .acceptReceived) == Outcome(.trusted, [.exchangeKeys, .report(.trusted)]))
    }

    @Test func `a request and this person's consent make trust`() {
        #expect(after(.requestReceived) == Outcome(.requested, [.report(.requested)]))
        #expect(
            after(.requestReceived, .invite) == Outcome(.trusted, [.sendAccept, .exchangeKeys, .report(.trusted)])
        )
    }

    @Test func `two invitations at once make trust`() {
        #expect(
            after(.invite, .requestReceived) == Outcome(.trusted, [.sendAccept, .exchangeKeys, .report(.trusted)])
        )
    }

    @Test func `a request alone makes no trust`() {
        #expect(after(.requestReceived, .requestReceived).state == .requested)
        #expect(after(.requestReceived, .acceptReceived) == Outcome(.requested, [.refuse]))
        #expect(after(.acceptReceived) == Outcome(.none, [.refuse]))
        #expect(after(.requestReceived, .decline) == Outcome(.none, [.sendDecline]))
        #expect(after(.invite, .declineReceived) == Outcome(.none, [.report(.declined)]))
    }

    @Test func `a consent that was lost is sent again`() {
        #expect(after(.requestReceived, .invite, .requestReceived) == Outcome(.trusted, [.sendAccept]))
        #expect(after(.invite, .start) == Outcome(.invited, [.sendRequest]))
    }

    @Test(
        arguments: [
            [], [.invite], [.requestReceived], [.invite, .acceptReceived], [.requestReceived, .invite],
        ] as [[Trust.Input]]
    )
    func `trust is revoked in every state`(before: [Trust.Input]) {
        var trust = Trust()
        for input in before { _ = trust.handle(input) }
        #expect(trust.handle(.revoke) == Self.cleanup + [.report(.peerTrustRevoked)])
        #expect(trust.state == .revoked)
        // A crash in between: the start repeats effects that may not have been performed.
        #expect(trust.handle(.start) == Self.cleanup)
        #expect(trust.handle(.revoke) == Self.cleanup)
    }

    @Test func `only this person ends a revocation`() {
        for input in Trust.Input.allCases where input != .invite && input != .unblock {
            var trust = Trust(.revoked)
            let effects = trust.handle(input)
            #expect(trust.state == .revoked, "\(input)")
            #expect(!effects.contains(.exchangeKeys) && !effects.contains(.sendAccept), "\(input)")
        }
        #expect(after(.revoke, .invite) == Outcome(.invited, [.liftBan, .sendRequest]))
        #expect(after(.revoke, .invite, .acceptReceived).state == .trusted)
    }

    @Test func `a lifted block allows connections, and makes no trust`() {
        #expect(after(.revoke, .unblock) == Outcome(.none, [.liftBan]))
        // A crash in between: the block is lifted again.
        #expect(after(.revoke, .unblock, .unblock) == Outcome(.none, [.liftBan]))
        #expect(after(.revoke, .unblock, .requestReceived).state == .requested)
        #expect(after(.invite, .acceptReceived, .unblock) == Outcome(.trusted, []))
    }

    @Test func `no sequence of the other person's messages makes trust`() {
        let theirs: [Trust.Input] = [.requestReceived, .acceptReceived, .declineReceived, .start]
        // Every sequence of five of them, from each state without this person's consent.
        for state in [Trust.State.none, .requested, .revoked] {
            for number in 0..<1_024 {
                var trust = Trust(state)
                for step in 0..<5 { _ = trust.handle(theirs[number >> (2 * step) & 3]) }
                #expect(trust.state != .trusted && trust.state != .invited)
            }
        }
    }
}
