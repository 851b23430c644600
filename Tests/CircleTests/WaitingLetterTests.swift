internal import Concurrency
internal import Identity
internal import Mailbox
internal import Testing

@testable internal import Circle

/// Letters that another letter has to precede.
@Suite("Letters that wait for another one", .timeLimit(.minutes(5))) struct WaitingLetterTests {
    /// Runs two devices of one person that have keys of each other.
    private func withDevices(
        _ body: ((phone: CircleDevice, laptop: CircleDevice, network: NetworkId)) async throws -> Void
    ) async throws {
        try await withCircles("Ada", "Laptop") { devices, network in
            let (phone, laptop) = (devices[0], devices[1])
            try laptop.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(laptop.peerId)
            await phone.waitForKeys(with: laptop)
            try await body((phone, laptop, network))
        }
    }

    private let group = Circle.Stream.unknown

    @Test func `a thought and a notice wait for the description of their stream`() async throws {
        try await withDevices { phone, laptop, network in
            let id = group.publicID
            let notice = try ParticipationNotice(.joined, in: id)
            let early = [
                try await laptop.mail(.participation, body: notice.bytes, to: phone, in: network),
                try await laptop.mail(Array("early".utf8), in: id, to: phone, in: network),
            ]
            // Their holders send them again.
            for mail in early + early { #expect(try await phone.take(mail, in: network) == nil) }
            #expect(phone.waitingCount == 2)
            let description = try StreamDescription(group, cards: [])
            let late = try await laptop.mail(.stream, content: description.bytes, to: phone, in: network)
            #expect(try await phone.take(late, in: network) == .delivered)
            #expect(try phone.circle.stream(id).participation == .invited)
            #expect(try phone.texts(in: id).isEmpty)
            for mail in early { #expect(try await phone.take(mail, in: network) == .delivered) }
            #expect(try phone.circle.stream(id).participation == .joined)
            #expect(try phone.texts(in: id) == ["early"])
            #expect(phone.waitingCount == 0)
        }
    }

    @Test func `at most 16 letters of one sender wait, each for a day`() async throws {
        try await withDevices { phone, laptop, network in
            let driver = phone.circle.driver
            // Those of another sender take no place of these.
            let (now, other) = (driver.milliseconds, PeerId(publicKey: generatePeerKey().publicKey))
            let others = try (UInt8(0)..<16).map { number in
                try #require(MailId([UInt8](repeating: number, count: MailId.byteCount)))
            }
            driver.state.withLock { state in
                for id in others { state.waiting[id] = (1 << 20, now, other) }
            }
            let notice = try ParticipationNotice(.joined, in: group.publicID)
            var mails: [Mail] = []
            for _ in 0..<17 {
                mails.append(try await laptop.mail(.participation, body: notice.bytes, to: phone, in: network))
            }
            for mail in mails.prefix(16) { #expect(try await phone.take(mail, in: network) == nil) }
            #expect(try await phone.take(mails[16], in: network) == .refused)
            #expect(try await phone.take(mails[0], in: network) == nil)
            #expect(phone.waitingCount == 32)

            // A day later.
            let first = mails[0]
            driver.state.withLock { state in
                guard let known = state.waiting[first.id] else { return }
                state.waiting[first.id] = (known.byteCount, known.since - 86_400_000, known.sender)
            }
            #expect(try await phone.take(first, in: network) == .refused)
            #expect(phone.waitingCount == 31)
            // It leaves its place to another letter.
            #expect(try await phone.take(mails[16], in: network) == nil)
        }
    }

    @Test func `at most 512 KiB of letters of one sender wait`() async throws {
        try await withDevices { phone, laptop, network in
            let content = [UInt8](repeating: 7, count: 190_000)
            for expected in [nil, nil, .refused] as [Reception?] {
                let mail = try await laptop.mail(content, .video, in: group.publicID, to: phone, in: network)
                #expect(try await phone.take(mail, in: network) == expected)
            }
            #expect(phone.waitingCount == 2)
        }
    }

    @Test func `a letter that no other letter explains is refused`() async throws {
        try await withCircles("Ada", "Ben") { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let news = try await ada.circle.makeStream(name: "News", policies: StreamPolicies(posting: .creator))
            for stream in [group.publicID, news.publicID] {
                let mail = try await ben.mail(Array("?".utf8), in: stream, to: ada, in: network)
                #expect(try await ada.take(mail, in: network) == .refused)
            }
            #expect(ada.waitingCount == 0)
        }
    }

    @Test func `a thought of a device that no card names waits for the card that does`() async throws {
        try await withCircles("Ada", "Ben") { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ben.keys.exchangeKeys(with: ada.peerId)
            let conversation = try ada.circle.driver.conversationId(with: ben.personId)
            let early = try await ben.mail(Array("early".utf8), in: conversation, to: ada, in: network)
            #expect(try await ada.take(early, in: network) == nil)
            #expect(ada.waitingCount == 1)
            try await ada.makeTrust(with: ben)
            #expect(try await ada.take(early, in: network) == .delivered)
            #expect(try ada.texts(with: ben) == ["early"])
            #expect(ada.waitingCount == 0)
        }
    }

    @Test func `of all devices that no card names at most 16 letters and 256 KiB wait`() async throws {
        try await withCircles("Ada", "Ben", "Eve") { devices, network in
            let (ada, ben, eve) = (devices[0], devices[1], devices[2])
            for sender in [ben, eve] { try await sender.keys.exchangeKeys(with: ada.peerId) }
            let stream = group.publicID
            let film = [UInt8](repeating: 7, count: 190_000)
            for (sender, expected) in [(ben, nil), (eve, .refused)] as [(CircleDevice, Reception?)] {
                let mail = try await sender.mail(film, .video, in: stream, to: ada, in: network)
                #expect(try await ada.take(mail, in: network) == expected)
            }
            for number in 0..<16 {
                let sender = number % 2 == 0 ? ben : eve
                let mail = try await sender.mail(Array("\(number)".utf8), in: stream, to: ada, in: network)
                #expect(try await ada.take(mail, in: network) == (number < 15 ? nil : .refused))
            }
            #expect(ada.waitingCount == 16)
        }
    }

    @Test func `a thought of a person whose request waits for an answer is refused`() async throws {
        try await withCircles("Ada", "Ben") { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ben.circle.invite(ada.peerId)
            await ada.wait { $0.person(of: ben)?.trust == .requested }
            try await ben.keys.exchangeKeys(with: ada.peerId)
            let conversation = try ada.circle.driver.conversationId(with: ben.personId)
            let mail = try await ben.mail(Array("early".utf8), in: conversation, to: ada, in: network)
            #expect(try await ada.take(mail, in: network) == .refused)
            #expect(ada.waitingCount == 0)
        }
    }

    @Test func `a thought of a person who has not joined yet waits for the word that the person joined`() async throws {
        try await withCircles("Ada", "Ben") { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let benId = try ben.personId
            let friends = try await ada.circle.makeStream(name: "Friends").publicID
            try await ada.circle.invite(benId, to: friends)
            let mail = try await ben.mail(Array("early".utf8), in: friends, to: ada, in: network)
            #expect(try await ada.take(mail, in: network) == nil)
            let notice = try ParticipationNotice(.joined, in: friends)
            let joined = try await ben.mail(.participation, body: notice.bytes, to: ada, in: network)
            #expect(try await ada.take(joined, in: network) == .delivered)
            #expect(try await ada.take(mail, in: network) == .delivered)
            #expect(try ada.texts(in: friends) == ["early"])
            #expect(ada.waitingCount == 0)
        }
    }
}
