internal import Circle
internal import CircleStore
internal import Identity
internal import SealedMessages
internal import Testing

/// Groups of real nodes.
@Suite("Streams of several people", .timeLimit(.minutes(15))) struct StreamTests {
    /// Runs three people, of whom the first trusts both others.
    private func withGroup(
        _ body: ((ada: CircleDevice, ben: CircleDevice, cleo: CircleDevice, network: NetworkId)) async throws -> Void
    ) async throws {
        try await withCircles("Ada", "Ben", "Cleo") { devices, network in
            let (ada, ben, cleo) = (devices[0], devices[1], devices[2])
            for friend in [ben, cleo] { try await ada.makeTrust(with: friend) }
            try await body((ada, ben, cleo, network))
        }
    }

    /// Makes a group of the first person, which both others join.
    private func makeGroup(
        _ ada: CircleDevice,
        _ others: CircleDevice...,
        posting: StreamPolicies.Posting = .members
    ) async throws -> PublicID {
        let group = try await ada.circle.makeStream(name: "Friends", policies: StreamPolicies(posting: posting))
            .publicID
        for other in others {
            let person = try other.personId
            try await ada.circle.invite(person, to: group)
            await other.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            try await other.circle.join(group)
            await ada.wait { device in
                let members = try? device.circle.stream(group).members  // nil: not yet
                return members?.contains { $0.person == person && $0.hasJoined } == true
            }
        }
        return group
    }

    private func waitForText(_ text: String, in group: PublicID, at devices: CircleDevice...) async {
        for device in devices {
            await device.wait { (try? $0.texts(in: group))?.contains(text) == true }  // nil: not yet
        }
    }

    private func say(_ text: String, in group: PublicID, from device: CircleDevice) async throws {
        try await device.circle.send(.say, Array(text.utf8), in: group)
    }

    @Test func `three people join by consent, trust each other, and all read what one says`() async throws {
        try await withGroup { ada, ben, cleo, _ in
            let group = try await makeGroup(ada, ben, cleo)
            // Ben and Cleo did not know each other: a joiner consents to the members.
            await ben.wait { $0.person(of: cleo)?.trust == .trusted }
            await cleo.wait { $0.person(of: ben)?.trust == .trusted }
            await ben.waitForKeys(with: cleo)
            await ben.wait { (try? $0.circle.stream(group).members.count) == 2 }  // nil: not yet
            try await say("from Ada", in: group, from: ada)
            await waitForText("from Ada", in: group, at: ben, cleo)
            try await say("from Ben", in: group, from: ben)
            await waitForText("from Ben", in: group, at: ada, cleo)
            let thought = try #require(try ben.circle.thoughts(in: group).first)
            #expect(thought.deliveries.map(\.device).sorted() == [ada.peerId, cleo.peerId].sorted())
            #expect(try ben.circle.streams().map(\.publicID).contains(group))
            #expect(try ben.texts(with: ada).isEmpty, "what is said in a group is in no conversation of two")
        }
    }

    @Test func `where the creator alone writes, members learn nothing of each other`() async throws {
        try await withGroup { ada, ben, cleo, _ in
            let group = try await makeGroup(ada, ben, cleo, posting: .creator)
            try await say("news", in: group, from: ada)
            await waitForText("news", in: group, at: ben, cleo)
            #expect(ben.person(of: cleo) == nil && cleo.person(of: ben) == nil)
            #expect(try ben.circle.stream(group).members.isEmpty)
            await #expect(throws: CircleError.self) { try await say("reply", in: group, from: ben) }
        }
    }

    @Test func `a member that leaves or is removed gets no further thoughts`() async throws {
        try await withGroup { ada, ben, cleo, _ in
            let group = try await makeGroup(ada, ben, cleo)
            let (benId, cleoId) = (try ben.personId, try cleo.personId)
            try await ben.circle.leave(group)
            await ada.wait { (try? $0.circle.stream(group).members.map(\.person)) == [cleoId] }  // nil: not yet
            await #expect(throws: CircleError.notJoined(group)) { try await say("?", in: group, from: ben) }
            try await say("without Ben", in: group, from: ada)
            await waitForText("without Ben", in: group, at: cleo)
            try await ada.circle.remove(cleoId, from: group)
            await cleo.wait { (try? $0.circle.stream(group).participation) == .left }  // nil: not yet
            #expect(try await ada.circle.send(.say, [65], in: group).deliveries.isEmpty)
            #expect(try ben.texts(in: group).isEmpty)
            // A member that left returns by a new invitation.
            try await ada.circle.invite(benId, to: group)
            await ben.wait { (try? $0.circle.stream(group).participation) == .invited }  // nil: not yet
            try await ben.circle.join(group)
            await ada.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            try await say("with Ben", in: group, from: ada)
            await waitForText("with Ben", in: group, at: ben)
            try await ada.circle.deleteStream(group)
            await ben.wait { (try? $0.circle.stream(group).participation) == .left }  // nil: not yet
            #expect(throws: CircleError.unknownStream(group)) { try ada.circle.stream(group) }
        }
    }

    @Test func `a person in whom the creator revokes trust leaves every group`() async throws {
        try await withGroup { ada, ben, cleo, _ in
            let group = try await makeGroup(ada, ben, cleo)
            let (benId, cleoId) = (try ben.personId, try cleo.personId)
            await cleo.wait { (try? $0.circle.stream(group).members.count) == 2 }  // nil: not yet
            try await ada.circle.revokeTrust(in: benId)
            #expect(try ada.circle.stream(group).members.map(\.person) == [cleoId])
            // Cleo is notified, and sends nothing to Ben in this group.
            await cleo.wait { (try? $0.circle.stream(group).members.map(\.person)) == [cleoId] }  // nil: not yet
            #expect(try await cleo.circle.send(.say, [65], in: group).deliveries.map(\.device) == [ada.peerId])
            // On the other side the group of a person in whom trust is revoked ends.
            try await cleo.circle.revokeTrust(in: ada.personId)
            #expect(try cleo.circle.stream(group).participation == .left)
            await #expect(throws: CircleError.self) { try await cleo.circle.join(group) }
        }
    }

    @Test func `a member that was removed and takes itself for one learns that it is none`() async throws {
        try await withGroup { ada, ben, _, _ in
            let group = try await makeGroup(ada, ben)
            try await ben.circle.leave(group)
            await ada.wait { (try? $0.circle.stream(group).members.isEmpty) == true }  // nil: not yet
            try await ben.circle.join(group)
            await ben.wait { (try? $0.circle.stream(group).participation) == .left }  // nil: not yet
            #expect(try ada.circle.stream(group).members.isEmpty)
        }
    }

    @Test func `a stream does not change who writes in it`() async throws {
        try await withGroup { ada, ben, cleo, _ in
            let group = try await makeGroup(ada, ben, posting: .creator)
            let stored = try #require(try ada.node.circleStore.stream(group))
            try ada.node.circleStore.save(
                Stream(
                    id: stored.id,
                    creatorPublicID: stored.creatorPublicID,
                    profile: stored.profile,
                    policies: StreamPolicies(posting: .members),
                    isInnerCircle: stored.isInnerCircle,
                    sourcePublicID: stored.sourcePublicID,
                    members: stored.members,
                    participation: stored.participation,
                    revision: stored.revision
                )
            )
            try await ada.circle.invite(cleo.personId, to: group)
            try await ada.circle.say("after the change", to: ben.personId)
            await ben.wait { (try? $0.texts(with: ada)) == ["after the change"] }  // nil: not yet
            #expect(try ada.circle.stream(group).policies.posting == .members)
            #expect(try ben.circle.stream(group).policies.posting == .creator)
        }
    }

    @Test func `a stream that is deleted and made again is described anew`() async throws {
        try await withGroup { ada, ben, _, _ in
            let inner = try #require(try ada.circle.streams().first { $0.isInnerCircle }).publicID
            try await ada.circle.invite(ben.personId, to: inner)
            await ben.wait { (try? $0.circle.stream(inner).participation) == .invited }  // nil: not yet
            try await ben.circle.join(inner)
            await ada.wait { (try? $0.circle.stream(inner).members.first?.hasJoined) == true }  // nil: not yet
            try await ada.circle.deleteStream(inner)
            await ben.wait { (try? $0.circle.stream(inner).participation) == .left }  // nil: not yet
            try await ada.circle.setProfile(name: "Ada again")
            try await ada.circle.invite(ben.personId, to: inner)
            await ben.wait { (try? $0.circle.stream(inner).participation) == .invited }  // nil: not yet
        }
    }

    @Test func `an invitation and a thought wait for a device that is offline, and survive restarts`() async throws {
        try await withGroup { ada, ben, _, network in
            let group = try await ada.circle.makeStream(name: "Friends").publicID
            let friend = try ben.personId
            await ben.stop()
            try await ada.circle.invite(friend, to: group)
            try await ada.restart()
            try await ben.restart()
            try await ben.connect(to: ada, in: network)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            try await ben.circle.join(group)
            await ada.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            await ben.stop()
            try await say("later", in: group, from: ada)
            try await ben.restart()
            try await ben.connect(to: ada, in: network)
            await waitForText("later", in: group, at: ben)
        }
    }

    @Test func `a member writes before the creator confirms that it joined`() async throws {
        try await withGroup { ada, ben, _, network in
            let group = try await ada.circle.makeStream(name: "Friends").publicID
            try await ada.circle.invite(ben.personId, to: group)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            await ada.stop()
            try await ben.circle.join(group)
            try await say("early", in: group, from: ben)
            try await ada.restart()
            try await ben.connect(to: ada, in: network)
            await waitForText("early", in: group, at: ada)
        }
    }

    @Test func `each person has the streams of the document`() async throws {
        try await withCircles("Ada") { devices, _ in
            let account = try devices[0].circle.account()
            #expect(account.streams.map(\.profile.name) == ["Inner circle", "Post", "Video"])
            #expect(account.streams.filter(\.isInnerCircle).map(\.profile.name) == ["Inner circle"])
            #expect(account.profile?.name == "Ada" && account.identityAssuranceLevel == .ial0)
            #expect(account.ageVerificationStatus == .unverified)
            try await devices[0].circle.setProfile(name: "Ada Lovelace")
            #expect(try devices[0].circle.streams().count == 3)
        }
    }
}
