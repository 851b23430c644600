internal import Identity
internal import Testing

@testable internal import Mailbox

/// The guess about a recipient that is left to a relay, measured in simulated networks.
///
/// A relay knows the sender, the holder, and which members are connected. It can compute all mailboxes, and so excludes the
/// offline members for which the holder is not one of the nearest.
@Suite("Guesses of relays") struct GuessTests {
    /// A network in which the first members are offline.
    struct Size: CustomTestStringConvertible {
        let members: Int
        let offline: Int
        /// The fewest candidates of a relay on average, and the largest share of deposits with one candidate.
        let leastCandidates: Double
        let largestExactShare: Double

        var testDescription: String { "\(offline) of \(members) members offline" }
    }

    static let sizes = [
        Size(members: 10, offline: 3, leastCandidates: 3, largestExactShare: 0),
        Size(members: 30, offline: 15, leastCandidates: 15, largestExactShare: 0),
        Size(members: 100, offline: 20, leastCandidates: 3, largestExactShare: 0.25),
    ]

    /// The offline members that may be the recipient of mail with these holders.
    private func candidates(_ net: MailNetwork, _ holders: [PeerId], from sender: Int) -> [Int] {
        let online = net.online.filter { $0 != sender }.map { net.members[$0].peerId }
        let count = Mailbox.Limits().holderCandidates
        return net.members.indices.filter { number in
            guard net.members[number].mailbox == nil else { return false }
            let place = MailboxId(of: net.members[number].peerId, in: net.id).words
            let near = online.sorted { place.isNearer($0, than: $1) }.prefix(count)
            return holders.allSatisfy(near.contains)
        }
    }

    @Test(arguments: sizes)
    func `a relay guesses the recipient among several offline members`(size: Size) throws {
        var (one, all): ([Int], [Int]) = ([], [])
        for seed in UInt64(1)...(size.members < 100 ? 3 : 1) {
            let net = MailNetwork(size.members, seed: seed)
            for number in size.offline..<size.members { net.start(number, isReceiving: false) }
            net.run(for: .seconds(1))
            for recipient in 0..<size.offline {
                let first = net.sent.count
                let sender = size.offline + recipient % (size.members - size.offline)
                let mail = net.send("hello", from: sender, to: recipient)
                net.run(for: .seconds(1))
                let holders = net.sent[first...].compactMap { sent in
                    if case .relay(_, let holder, _) = sent.message { holder } else { nil as PeerId? }
                }
                #expect(holders.count == 3 && net.holders(of: mail).count == 3)
                for holder in holders {
                    let candidates = candidates(net, [holder], from: sender)
                    #expect(candidates.contains(recipient))
                    one.append(candidates.count)
                }
                all.append(candidates(net, holders, from: sender).count)
            }
        }
        for (what, counts) in [("one deposit", one), ("all deposits of a mail", all)] {
            let mean = Double(counts.reduce(0, +)) / Double(counts.count)
            let exact = Double(counts.count { $0 == 1 }) / Double(counts.count)
            print("\(size.testDescription), a relay of \(what): \(mean) candidates, exact in \(exact * 100) %")
            #expect(mean >= size.leastCandidates && exact <= size.largestExactShare)
        }
    }
}
