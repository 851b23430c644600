internal import Identity
internal import Mailbox
internal import Testing

@testable internal import NodeCore

/// Mailboxes inside of nodes: their messages are sent to members only, and a recipient finds holders through the hash table.
@Suite("Mailboxes of nodes") struct MailboxTests {
    /// Cores whose host stores mail in memory.
    private struct Post {
        var net = CoreNetwork()
        var held: [Int: [MailId: Mail]] = [:]
        var outgoing: [MailId: Mail] = [:]
        var progress: [MailId: Mailbox.Progress] = [:]
        var received: [Int: [MailId]] = [:]
        private var seen: [Int: Int] = [:]

        /// Members each of which has only the address of the first one.
        init(_ count: Int) throws {
            for _ in 0..<count { try net.addMember() }
            for node in 1..<count { net.connect(node, 0) }
            run(for: .seconds(5))
        }

        var network: NetworkId { net.network() }

        func mailbox(of node: Int) -> Mailbox? { net.nodes[node].core.protocols.mailboxes[network] }

        mutating func send(_ body: [UInt8], from sender: Int, to recipient: PeerId) -> MailId {
            let mail = Mail(
                to: MailboxId(of: recipient, in: network),
                expirationSeconds: net.now.wallSeconds + 3_600,
                body: body
            )
            outgoing[mail.id] = mail
            net.feed(sender, .mailbox(network, .submitted(OutgoingMail(mail, to: recipient))))
            return mail.id
        }

        mutating func run(for span: Duration) {
            let end = net.now.monotonic + span
            while net.now.monotonic < end {
                net.deliver()
                serve()
                net.advance(by: .milliseconds(100))
            }
        }

        /// Performs the effects since the last call.
        private mutating func serve() {
            for node in net.nodes.indices {
                let effects = net.nodes[node].effects
                for effect in effects[min(seen[node, default: 0], effects.count)...] {
                    guard case .mailbox(let network, let effect) = effect else { continue }
                    if let answer = answer(effect, of: node) { net.feed(node, .mailbox(network, answer)) }
                }
                seen[node] = effects.count
            }
        }

        private mutating func answer(_ effect: Mailbox.HostEffect, of node: Int) -> Mailbox.HostInput? {
            switch effect {
            case .readOutgoing(let id, _): return .outgoingRead(id, outgoing[id])
            case .progressed(let id, let step):
                progress[id] = step
                return nil
            case .hold(let mail, _):
                held[node, default: [:]][mail.id] = mail
                return .held(mail.id, true)
            case .readHeld(let ids, let owner):
                return .heldRead(for: owner, ids.compactMap { held[node]?[$0] })
            case .delete(let ids):
                for id in ids { held[node]?[id] = nil }
                return nil
            case .receive(let mail, _):
                received[node, default: []].append(mail.id)
                return .stored([mail.id], .delivered)
            }
        }
    }

    @Test func `mail is held by members and collected after a search of the hash table`() throws {
        var post = try Post(5)
        let absent = try post.net.addNode()
        let recipient = post.net.nodes[absent].peerId
        let mail = post.send([1, 2, 3], from: 1, to: recipient)
        post.run(for: .seconds(5))
        let holders = (0..<5).filter { post.held[$0]?[mail] != nil }
        #expect(holders.count == 3 && !holders.contains(1))
        guard case .held(let peers)? = post.progress[mail] else {
            Issue.record("the sender does not see the holders")
            return
        }
        #expect(Set(peers) == Set(holders.map { post.net.nodes[$0].peerId }))

        // It connects, and knows a member that may not hold the mail.
        try post.net.enter(absent)
        post.net.feed(absent, .receivesMail(true))
        let acquaintance = try #require((0..<5).first { !holders.contains($0) })
        post.net.connect(absent, acquaintance)
        post.run(for: .seconds(10))
        #expect(Set(post.received[absent] ?? []) == [mail])
        #expect((0..<5).allSatisfy { post.held[$0]?[mail] == nil })
        // No record names a holder.
        #expect((0..<6).allSatisfy { post.net.nodes[$0].core.storedHeads(in: post.network).isEmpty })
    }

    @Test func `a malformed message about mail costs its sender the connection`() throws {
        var post = try Post(3)
        let id = try #require(post.net.nodes[1].links.first { $0.value.node == 0 }?.key)
        post.net.forge(.mailbox(index: 0, [99]), from: 1, on: id)
        #expect(post.net.closeCodes(by: 0) == [.protocolViolation])
    }

    @Test func `mail of a network is forgotten when the device leaves it`() throws {
        var post = try Post(3)
        let absent = try post.net.addNode()
        _ = post.send([1], from: 1, to: post.net.nodes[absent].peerId)
        post.run(for: .seconds(3))
        #expect(post.mailbox(of: 1)?.outgoingCount == 1)
        post.net.feed(1, .membership(.removed(post.network)))
        #expect(post.mailbox(of: 1)?.outgoingCount == nil)
        #expect(post.mailbox(of: 0)?.heldAmount.mails == 1)
    }
}
