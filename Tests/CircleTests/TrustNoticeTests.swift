internal import Identity
internal import Mailbox
internal import SealedMessages
internal import Testing

@testable internal import Circle

/// Letters by which a device of a person informs the others of the person's trust.
@Suite("Notices of trust", .timeLimit(.minutes(5))) struct TrustNoticeTests {
    /// Three devices, and the time at which the phone made trust with Ben.
    private struct Scene {
        let phone: CircleDevice
        let laptop: CircleDevice
        let ben: CircleDevice
        let network: NetworkId
        let card: ProfileCard
        let trustedSeconds: UInt64

        /// Gives the phone a notice of the laptop.
        func take(_ state: Trust.State, changedSeconds: UInt64) async throws {
            let notice = try TrustNotice(state, in: card, changedSeconds: changedSeconds)
            let mail = try await laptop.mail(.trust, body: notice.bytes, to: phone, in: network)
            #expect(try await phone.take(mail, in: network) == .delivered)
        }

        /// The trust of the phone in Ben.
        var trust: Trust.State? { phone.person(of: ben)?.trust }

        /// Whether the phone has keys of Ben.
        var hasKeys: Bool { phone.keys.relationship(with: ben.peerId) != nil }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withCircles("Ada", "Laptop", "Ben") { devices, network in
            let (phone, laptop, ben) = (devices[0], devices[1], devices[2])
            try await phone.makeTrust(with: ben)
            try laptop.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(laptop.peerId)
            await phone.waitForKeys(with: laptop)
            let known = try phone.circle.driver.known(ben.personId)
            let scene = Scene(
                phone: phone,
                laptop: laptop,
                ben: ben,
                network: network,
                card: try #require(known.card),
                trustedSeconds: known.changedSeconds
            )
            try await body(scene)
        }
    }

    @Test func `a revocation from before the present trust ends neither the trust nor the keys`() async throws {
        try await withScene { scene in
            try await scene.take(.revoked, changedSeconds: scene.trustedSeconds - 1)
            #expect(scene.trust == .trusted && scene.hasKeys)
        }
    }

    /// A revocation in the second of the consent counts, so that no order of letters loses it.
    @Test(arguments: [0, 1] as [UInt64])
    func `a revocation that is not older than the trust ends it and its keys`(seconds: UInt64) async throws {
        try await withScene { scene in
            try await scene.take(.revoked, changedSeconds: scene.trustedSeconds + seconds)
            #expect(scene.trust == .revoked && !scene.hasKeys)
        }
    }

    @Test func `a late revocation does not end trust that was renewed, and a late consent does not renew it`()
        async throws
    {
        try await withScene { scene in
            let revoked = scene.trustedSeconds + 10
            try await scene.take(.revoked, changedSeconds: revoked)
            for early in [scene.trustedSeconds, revoked] {
                try await scene.take(.trusted, changedSeconds: early)
                #expect(scene.trust == .revoked)
            }
            try await scene.take(.trusted, changedSeconds: revoked + 10)
            #expect(scene.trust == .trusted)
            for late in [revoked, revoked + 9] {
                try await scene.take(.revoked, changedSeconds: late)
                #expect(scene.trust == .trusted)
            }
            try await scene.take(.revoked, changedSeconds: revoked + 11)
            #expect(scene.trust == .revoked)
        }
    }

    @Test func `a notice of another person's device is refused`() async throws {
        try await withScene { scene in
            let notice = try TrustNotice(.revoked, in: scene.card, changedSeconds: scene.trustedSeconds + 1)
            let mail = try await scene.ben.mail(.trust, body: notice.bytes, to: scene.phone, in: scene.network)
            #expect(try await scene.phone.take(mail, in: scene.network) == .refused)
            #expect(scene.trust == .trusted)
        }
    }
}
