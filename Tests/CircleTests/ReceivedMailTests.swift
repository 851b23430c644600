internal import CircleStore
internal import Mailbox
internal import NodeStore
internal import RunarNode
internal import Testing

@testable internal import Circle

/// Copies of mail, which senders and holders may send again.
@Suite("Received mail", .timeLimit(.minutes(15))) struct ReceivedMailTests {
    @Test func `a copy of a mail is shown once until a lifetime after its expiration`() async throws {
        try await withCircles("Ada", "Ben") { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            await ben.stop()
            let thought = try await ada.circle.say("once", to: #require(ada.person(of: ben)).id)
            let sender = ada.node.stateStore
            let id = try #require(try ada.node.circleStore.deliveries(of: thought.publicID).first?.mailId)
            let mail = try #require(try sender.mails(in: .outgoing, of: network).first { $0.mailId == id })
            let body = try #require(try sender.mailBodies(of: [id], in: .outgoing, of: network)[id]?.body)
            try await ben.restart()
            try await ben.connect(to: ada, in: network)
            await ben.wait { (try? $0.texts(with: ada)) == ["once"] }  // nil: not yet
            await ada.wait { (try? $0.circle.thought(thought.publicID))?.state == .delivered }  // nil: not yet

            let end = mail.expiration + CircleDriver.lifetimeSeconds
            try ben.circle.driver.forgetReceivedMail(at: end)
            #expect(try ben.node.circleStore.hasReceived(id))
            await ben.stop()
            await ada.stop()
            try sender.addMail([(mail, body)])
            try await ada.restart()
            let progress = ada.node.mailProgress
            try await ben.restart()
            try await ben.connect(to: ada, in: network)
            var outcome: Mailbox.Progress?
            for await step in progress where step.id.bytes == id && step.progress.isFinal {
                outcome = step.progress
                break
            }
            #expect(outcome == .delivered)
            #expect(try ben.texts(with: ada) == ["once"])

            try ben.circle.driver.forgetReceivedMail(at: end + 1)
            #expect(try !ben.node.circleStore.hasReceived(id))
        }
    }
}
