internal import Bytes
internal import Identity
internal import Kademlia
internal import Testing

/// One table that connects to others and loses them.
@Suite("Joining") struct JoiningTests {
    @Test func `the first member is queried for its nearest contacts`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1)
        #expect(dialogue.queries(to: 1).map(\.rpc) == [.findPeers(target: dialogue.peers[0].words)])
        #expect(dialogue.table.neighbours.map(\.peerId) == [dialogue.peers[1]])
        #expect(dialogue.table.protects(dialogue.peers[1]))
    }

    @Test func `an unverified candidate is dialled but is no neighbour before it answers`() throws {
        var dialogue = try Dialogue()
        let contact = Contact(peerId: dialogue.peers[1], addresses: [dialogue.address(1)])
        dialogue.feed(.contactHeard(contact))
        #expect(
            dialogue.effects.contains { effect in
                if case .send(contact.peerId, contact.addresses, _) = effect { true } else { false }
            }
        )
        #expect(dialogue.table.contacts.isEmpty)
        dialogue.feed(.contactHeard(Contact(peerId: dialogue.peers[2], addresses: [])))
        dialogue.feed(.contactHeard(Contact(peerId: dialogue.peers[0], addresses: [dialogue.address(0)])))
        #expect(dialogue.queries(to: 2).isEmpty && dialogue.queries(to: 0).isEmpty)
    }

    @Test func `an unreachable contact is retried at growing intervals`() throws {
        var dialogue = try Dialogue()
        dialogue.feed(.contactHeard(Contact(peerId: dialogue.peers[1], addresses: [dialogue.address(1)])))
        var tries = 0
        for _ in 0..<1200 {
            if !dialogue.queries(to: 1).isEmpty {
                tries += 1
                dialogue.forget()
                dialogue.feed(.unreachable(dialogue.peers[1]))
            }
            dialogue.advance(by: 1)
        }
        #expect((8...16).contains(tries))
    }

    @Test func `a request skips unresponsive contacts unless no other contact is known`() throws {
        var dialogue = try Dialogue(members: 4)
        let gone = Contact(peerId: dialogue.peers[1], addresses: [dialogue.address(1)])
        dialogue.feed(.contactHeard(gone))
        dialogue.feed(.unreachable(gone.peerId))
        dialogue.forget()
        dialogue.feed(.requested(Kademlia.RequestId(1), .get(key: [1]), Kademlia.RequestPolicy()))
        #expect(dialogue.queries(to: 1).count == 1)
        dialogue.feed(.unreachable(gone.peerId))
        dialogue.connect(2)
        dialogue.feed(.contactHeard(Contact(peerId: dialogue.peers[3], addresses: [dialogue.address(3)])))
        dialogue.forget()
        dialogue.feed(.requested(Kademlia.RequestId(2), .get(key: [2]), Kademlia.RequestPolicy()))
        #expect(dialogue.queries(to: 1).isEmpty)
        #expect(dialogue.queries(to: 2).count == 1 && dialogue.queries(to: 3).count == 1)
    }

    @Test func `an answer names only responsive contacts, never the requester`() throws {
        var dialogue = try Dialogue(members: 5)
        dialogue.connect(1, 2)
        dialogue.feed(.memberUp(dialogue.peers[3], []))
        dialogue.feed(.contactHeard(Contact(peerId: dialogue.peers[4], addresses: [dialogue.address(4)])))
        let answer = dialogue.query(.findPeers(target: dialogue.peers[0].words), as: 1)
        #expect(answer == .peers([Contact(peerId: dialogue.peers[2], addresses: [dialogue.address(2)])]))
    }

    @Test func `a lost neighbour is queried at once and counts as gone until it answers`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.forget()
        dialogue.feed(.memberDown(dialogue.peers[1]))
        #expect(dialogue.table.neighbours.map(\.peerId) == [dialogue.peers[2]])
        #expect(dialogue.queries(to: 1).count == 1)
        dialogue.connect(1)
        #expect(Set(dialogue.table.neighbours.map(\.peerId)) == [dialogue.peers[1], dialogue.peers[2]])
        dialogue.feed(.memberDown(dialogue.peers[1]))
        dialogue.feed(.unreachable(dialogue.peers[1]))
        #expect(dialogue.table.contacts.map(\.peerId) == [dialogue.peers[2]])
        // And another neighbour is queried for its replacement.
        dialogue.forget()
        dialogue.advance(by: 1)
        #expect(dialogue.queries(to: 2).map(\.rpc) == [.findPeers(target: dialogue.peers[0].words)])
    }

    @Test func `a node that loses all its contacts keeps candidates to dial`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1)
        dialogue.feed(.memberDown(dialogue.peers[1]))
        dialogue.feed(.unreachable(dialogue.peers[1]))
        #expect(dialogue.table.contacts.isEmpty)
        dialogue.forget()
        dialogue.advance(by: 60)
        #expect(!dialogue.queries(to: 1).isEmpty)
    }

    @Test func `a member that answers nothing loses its place`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.answerAll(as: 2)
        dialogue.advance(by: 1600) { dialogue in
            dialogue.answerAll(as: 2)
            return false
        }
        #expect(dialogue.table.contacts.map(\.peerId) == [dialogue.peers[2]])
    }

    @Test func `a request is repeated once when its connection breaks`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1)
        let first = try #require(dialogue.queries(to: 1).first)
        dialogue.feed(.memberDown(dialogue.peers[1]))
        let numbers = dialogue.queries(to: 1).map(\.number)
        #expect(numbers.filter { $0 == first.number }.count == 2)
    }

    @Test func `an idle table sleeps for minutes`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        func answer(_ dialogue: inout Dialogue) -> Bool {
            dialogue.answerAll(as: 1)
            dialogue.answerAll(as: 2)
            return false
        }
        _ = answer(&dialogue)
        dialogue.advance(by: 30, until: answer)
        dialogue.forget()
        dialogue.advance(by: 600, until: answer)
        let sent = dialogue.effects.count { if case .send = $0 { true } else { false } }
        #expect(sent <= 12)
    }
}
