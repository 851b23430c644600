internal import Concurrency
internal import Mailbox
internal import Platform
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import RunarNode

/// Mail between nodes, over connections in memory and with the nodes' stores.
@Suite("Mail of nodes", .timeLimit(.minutes(15))) struct MailTests {
    /// Returns the progress of a mail that satisfies a condition, as soon as it occurs.
    private func wait(
        for id: MailId,
        in progress: AsyncStream<MailProgress>,
        until condition: (Mailbox.Progress) -> Bool
    ) async -> Mailbox.Progress? {
        for await step in progress where step.id == id && condition(step.progress) { return step.progress }
        return nil
    }

    @Test func `mail for a connected member is delivered to its application`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let incoming = members[0].openMailbox()
            let progress = owner.mailProgress
            let id = try owner.submitMail([1, 2, 3], to: members[0].peerId, in: network, lifetimeSeconds: 60)
            let received = try #require(try await incoming.next())
            #expect(received.mail.body == [1, 2, 3] && received.mail.id == id && received.sender == owner.peerId)
            members[0].answerMail([id], in: network, .delivered)
            #expect(await wait(for: id, in: progress) { $0.isFinal } == .delivered)
        }
    }

    @Test func `a member holds mail for one that is stopped, also over its own restart`() async throws {
        let home = try TemporaryDataDirectory()
        try SystemFileSystem().makeDirectory(home.path, mode: 0o700)
        let keys = InMemoryKeyStorage()
        let household = Household()
        let owner = try household.makeNode()
        let holder = try household.makeNode(keys: keys, statePath: home.path + "/holder.sqlite")
        let absent = try household.makeNode()
        try await Household.run(owner, [holder, absent]) { metadata in
            let network = metadata.networkId
            await absent.stop()
            try await holder.connect(to: owner, in: network)
            let progress = owner.mailProgress
            let id = try owner.submitMail([7], to: absent.peerId, in: network, lifetimeSeconds: 3_600)
            #expect(await wait(for: id, in: progress) { !$0.isFinal } == .held(by: [holder.peerId]))

            // Otherwise it delivers the mail itself.
            await owner.stop()
            await holder.stop()
            try await holder.start()
            let incoming = absent.openMailbox()
            try await absent.start()
            try await absent.connect(to: holder, in: network)
            let received = try #require(try await incoming.next())
            #expect(received.mail.id == id && received.sender == nil)
            absent.answerMail([id], in: network, .delivered)
        }
    }

    @Test func `mail that was submitted before the node started is sent then`() async throws {
        let household = Household()
        let (owner, member) = (try household.makeNode(), try household.makeNode())
        try await Household.run(owner, [member]) { metadata in
            await owner.stop()
            let id = try owner.submitMail([1], to: member.peerId, in: metadata.networkId, lifetimeSeconds: 60)
            let incoming = member.openMailbox()
            try await owner.start()
            try await member.connect(to: owner, in: metadata.networkId)
            #expect(try await incoming.next()?.mail.id == id)
            member.answerMail([id], in: metadata.networkId, .delivered)
        }
    }

    @Test func `withdrawn mail is gone from the disk`() async throws {
        try await Household.run(members: 1) { metadata, owner, members in
            let network = metadata.networkId
            try owner.submitMail([1], to: members[0].peerId, in: network, lifetimeSeconds: 60)
            #expect(try owner.mailService.outgoing(to: members[0].peerId, in: network).count == 1)
            try owner.withdrawMail(to: members[0].peerId)
            #expect(try owner.mailService.outgoing(to: members[0].peerId, in: network).isEmpty)
        }
    }

    @Test func `mail above the limit is refused until another one has left`() async throws {
        let household = Household()
        let owner = try household.makeNode(outgoingMailLimit: 2)
        let member = try household.makeNode()
        try await Household.run(owner, [member]) { metadata in
            let (network, peer) = (metadata.networkId, member.peerId)
            for number in UInt8(1)...2 {
                try owner.submitMail([number], to: peer, in: network, lifetimeSeconds: 60)
            }
            let refusal = NodeError.tooMuchMail(network, limit: 2)
            #expect(throws: refusal) { try owner.checkRoomForMail(in: network) }
            #expect(throws: refusal) { try owner.submitMail([3], to: peer, in: network, lifetimeSeconds: 60) }
            #expect(try owner.mailService.outgoing(to: peer, in: network).count == 2)
            #expect(RunarError(refusal).code == RunarErrorCode.busy.rawValue)

            let (incoming, progress) = (member.openMailbox(), owner.mailProgress)
            try await member.connect(to: owner, in: network)
            let received = try #require(try await incoming.next()).mail.id
            member.answerMail([received], in: network, .delivered)
            #expect(await wait(for: received, in: progress) { $0.isFinal } == .delivered)
            try owner.submitMail([3], to: peer, in: network, lifetimeSeconds: 60)
        }
    }

    @Test func `mail for a network of others is refused`() throws {
        let node = try Household().makeNode()
        let other = try Household().makeNode()
        let network = try other.createNetwork(name: "Home").networkId
        #expect(throws: NodeError.notAMember(network)) {
            try node.submitMail([1], to: other.peerId, in: network, lifetimeSeconds: 60)
        }
    }
}
