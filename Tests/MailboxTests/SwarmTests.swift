internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Mailbox

/// Fifty members, half of which are offline at any time, on connections that break.
@Suite("Mail in a large network") struct SwarmTests {
    private struct Letter {
        let id: MailId
        let text: String
        let sender: Int
        let recipient: Int
    }

    /// Members leave and return for an hour, and send each other mail; then each recipient is online for a while.
    private func exchange(seed: UInt64, breakShare: Double) -> (net: MailNetwork, letters: [Letter]) {
        let net = MailNetwork(50, seed: seed)
        var random = SeededGenerator(seed: seed, name: "churn")
        net.breakShare = breakShare
        for number in 0..<25 { net.start(number) }
        var letters: [Letter] = []
        for minute in 0..<60 {
            // Each minute two leave and two return.
            for _ in 0..<2 {
                if let leaving = net.online.randomElement(using: &random) { net.stop(leaving) }
                let offline = net.members.indices.filter { net.members[$0].mailbox == nil }
                if let coming = offline.randomElement(using: &random) { net.start(coming) }
            }
            for _ in 0..<4 {
                guard let sender = net.online.randomElement(using: &random) else { continue }
                let recipient = Int.random(in: 0..<50, using: &random)
                guard recipient != sender else { continue }
                let text = "letter \(letters.count) of minute \(minute)"
                let id = net.send(text, from: sender, to: recipient)
                letters.append(Letter(id: id, text: text, sender: sender, recipient: recipient))
            }
            net.run(for: .seconds(60))
        }
        return (net, letters)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `every mail arrives once while one holder lives`(seed: UInt64) {
        let (net, letters) = exchange(seed: seed, breakShare: 0.01)
        let unheld = letters.filter { letter in
            net.holders(of: letter.id).isEmpty && net.members[letter.sender].disk.outgoing[letter.id] != nil
        }
        for number in net.members.indices where net.members[number].mailbox == nil { net.start(number) }
        net.run(for: .seconds(900))
        for letter in letters {
            let count = net.texts(of: letter.recipient).count { $0 == letter.text }
            #expect(count == 1, "\(letter.text), seed \(seed)")
        }
        #expect(unheld.count < letters.count / 10)
        #expect(net.members.allSatisfy { $0.disk.outgoing.isEmpty && $0.disk.held.isEmpty })
        #expect(net.members.allSatisfy { $0.violations.isEmpty })
    }

    @Test func `one of three holders is enough`() {
        let net = MailNetwork(12, seed: 5)
        for number in 0..<12 where number != 1 { net.start(number) }
        let letters = (0..<30).map { net.send("letter \($0)", from: 0, to: 1) }
        net.run(for: .seconds(60))
        #expect(letters.allSatisfy { net.holders(of: $0).count == 3 })
        // The sender and two of the holders leave permanently, with their disks.
        let holders = net.holders(of: letters[0])
        net.stop(0, holders[0], holders[1])
        net.start(1)
        net.run(for: .seconds(30))
        #expect(net.texts(of: 1).sorted() == (0..<30).map { "letter \($0)" }.sorted())
    }

    @Test func `processes that crash at any time lose and repeat no mail`() {
        let net = MailNetwork(8, seed: 9)
        var random = SeededGenerator(seed: 9, name: "crashes")
        for number in 0..<8 { net.start(number) }
        var sent: OrderedSet<String> = []
        for round in 0..<400 {
            let victim = Int.random(in: 0..<8, using: &random)
            let recipient = (victim + 1 + Int.random(in: 0..<7, using: &random)) % 8
            net.start(victim)
            let text = "letter \(round)"
            net.send(text, from: victim, to: recipient)
            sent.append("\(recipient) \(text)")
            net.run(for: .milliseconds(Int64.random(in: 0..<150, using: &random)))
            net.stop(Int.random(in: 0..<8, using: &random))
        }
        for number in 0..<8 { net.start(number) }
        net.run(for: .seconds(1_800))
        let shown = net.members.indices.flatMap { number in net.texts(of: number).map { "\(number) \($0)" } }
        #expect(shown.count == sent.count)
        #expect(Set(shown) == Set(sent))
    }
}
