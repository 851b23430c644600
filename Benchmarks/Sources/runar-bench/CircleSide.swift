internal import Circle
internal import CircleStore
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeStore
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

/// The sealing of one content for the devices of a group, and a long conversation in a node's database.
enum CircleSide {
    // MARK: Groups

    private static let groupDevices = 20
    private static let content = [UInt8](repeating: 7, count: 1024)
    private static let mailKey = KeyDerivation.deriveMailKey(peerKey: generatePeerKey().privateKey).publicKey

    /// A device of the group, with the keys that the sender has of it.
    private final class Recipient: Sendable {
        let device = PeerId(publicKey: generatePeerKey().publicKey)
        private let pool: Locked<PublicKeyStore>

        init(_ suite: OneTimeKeySuite) throws { pool = Locked(try KeyStore.generate(suite).publicKeys) }

        /// Seals a letter with the keys of a copy, as the circle does.
        func seal(_ content: SealedContent, from sender: Ed25519KeyPair) throws {
            let (copy, keys) = try content.copy()
            let letter = try Letter(
                .thought,
                content: (keys, content.digest),
                sentMilliseconds: 1_800_000_000_000,
                to: device,
                signedBy: sender.privateKey
            )
            let message = try pool.withLock { try $0.takeKey().seal(letter.bytes, to: device).bytes }
            let body = Envelope(letter: message, copy: copy).seal(to: mailKey, of: device)
            guard body?.count ?? 0 > CircleSide.content.count else { throw BenchError("a mail without its content") }
        }
    }

    /// Prints the median time to seal 1 KiB for one device and for 20, in microseconds.
    static func measureGroup(count: Int) async throws {
        guard let suite = OneTimeKeySuite.supported.first else { throw BenchError("this system has no one-time keys") }
        let recipients = try (0..<groupDevices).map { _ in try Recipient(suite) }
        let sender = generatePeerKey()
        var (one, group): ([Duration], [Duration]) = ([], [])
        for _ in 0..<count {
            one.append(try await seal(for: recipients.prefix(1), from: sender))
            group.append(try await seal(for: recipients[...], from: sender))
        }
        Output.result(["one": one.percentile(0.5).microseconds, "group": group.percentile(0.5).microseconds])
    }

    /// Seals the content once, and a letter for each recipient, concurrently; returns the time.
    private static func seal(
        for recipients: ArraySlice<Recipient>,
        from sender: Ed25519KeyPair
    ) async throws -> Duration {
        let started = ContinuousClock.now
        let sealed = try SealedContent(content)
        try await withThrowingDiscardingTaskGroup { group in
            for recipient in recipients { group.addTask { try recipient.seal(sealed, from: sender) } }
        }
        return ContinuousClock.now - started
    }

    // MARK: Conversations

    private static let pageLimit = 50
    private static let runs = 15
    /// The thoughts of one transaction.
    private static let batch = 5_000
    /// The word of the oldest thought.
    private static let rareWord = "quokka"
    private static let missingWord = "wombat"

    /// Prints the times to read parts of a conversation of `count` thoughts, in milliseconds.
    static func measureHistory(count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let ticket = Ticket(peerId: PeerId(publicKey: network.publicKey), network: network)
        let node = try await ticket.member(state: folder)
        let friend = try storeFriend(in: CircleStore(node.stateStore))
        let circle = try CircleManager(node: node, keys: KeyStoreManager(node: node))
        try await circle.setProfile(name: "Ada")
        // Without a common network it waits; the conversation is made.
        try await circle.say("A \(rareWord) crossed the road", to: friend.publicID)
        try fill(node, circle, with: friend, count: count - 1)

        func page(before number: UInt64?) throws -> Double {
            try milliseconds(runs) {
                let page = try circle.thoughts(with: friend.publicID, before: number, limit: pageLimit)
                guard page.count == pageLimit else { throw BenchError("a page of \(page.count) thoughts") }
            }
        }
        let newest = try circle.thoughts(with: friend.publicID, limit: pageLimit)
        let oldest = UInt64(pageLimit + 1)
        let (step, all) = try search(in: circle, with: friend.publicID)
        Output.result([
            "open": try page(before: nil),
            "newest": try page(before: newest.last?.number),
            "middle": try page(before: UInt64(count / 2)),
            "oldest": try page(before: oldest),
            "search": step,
            "search-all": all,
        ])
        await circle.end()
        await node.stop()
        try FileManager.default.removeItem(at: folder)
    }

    /// Stores a person with one device as trusted.
    private static func storeFriend(in store: CircleStore) throws -> ProfileCard {
        let key = generatePeerKey()
        let seconds = UInt64(Date.now.timeIntervalSince1970)
        let card = try ProfileCard(
            Profile(id: UUID(), name: "Ben"),
            devices: [
                CardDevice(
                    of: key.publicKey,
                    mailKey: mailKey,
                    signedSeconds: seconds,
                    signedBy: generatePeerKey().privateKey
                )
            ],
            issuedSeconds: seconds,
            signedBy: key
        )
        let person = StoredPerson(
            publicID: card.publicID,
            key: key.publicKey.bytes,
            card: card.bytes,
            trust: .trusted,
            changedAt: seconds
        )
        try store.save(person, nil)
        return card
    }

    /// Stores thoughts of both people in turn; those of this device's person have a delivery.
    private static func fill(_ node: RunarNode, _ circle: CircleManager, with friend: ProfileCard, count: Int) throws {
        let conversation = circle.conversation(with: friend.publicID)
        let stream = try CircleStore(node.stateStore).streams().first { $0.publicID == conversation }
        guard let stream, let own = circle.card?.publicID else { throw BenchError("there is no conversation") }
        let cipher = HistoryCipher(key: KeyDerivation.deriveHistoryKey(personKey: try node.personKey().privateKey))
        let firstMilliseconds: UInt64 = 1_700_000_000_000
        for first in stride(from: 0, to: count, by: batch) {
            let end = min(first + batch, count)
            var entries: [(thought: StoredThought, deliveries: [StoredDelivery])] = []
            for number in first..<end {
                let creator = number.isMultiple(of: 2) ? own : friend.publicID
                let model = try ThoughtServiceModel(
                    creatorPublicID: creator,
                    streamPublicID: conversation,
                    mediaType: .say,
                    createdAtMilliseconds: firstMilliseconds + UInt64(number) * 60_000,
                    content: Array("Thought \(number): the train is late again, start dinner without me please".utf8)
                )
                let thought = StoredThought(model, in: stream.id, nano: try cipher.seal(model))
                let deliveries = friend.devices.map { device in
                    StoredDelivery(thought: thought.publicID, peerId: device, state: .opened)
                }
                entries.append((thought, creator == own ? deliveries : []))
            }
            try CircleStore(node.stateStore).add(entries)
            Output.complain("\(end) of \(count) thoughts are stored")
        }
    }

    /// Searches for the word of the oldest thought and for one that does not occur; returns the times of the longest step and
    /// of the second search, in milliseconds.
    private static func search(in circle: CircleManager, with friend: PublicID) throws -> (step: Double, all: Double) {
        var (longest, all) = (Duration.zero, Duration.zero)
        for (word, expected) in [(rareWord, 1), (missingWord, 0)] {
            var (count, last): (Int, UInt64?) = (0, nil)
            all = .zero
            repeat {
                let started = ContinuousClock.now
                let stream = circle.conversation(with: friend)
                let (found, searchedTo) = try circle.search(in: stream, before: last) { thought in
                    thought.text?.lowercased().contains(word) == true
                }
                let time = ContinuousClock.now - started
                longest = max(longest, time)
                all += time
                count += found.count
                last = searchedTo
            } while last != nil
            guard count == expected else {
                throw BenchError("\(count) thoughts have the word \(word), not \(expected)")
            }
        }
        return (longest.seconds * 1e3, all.seconds * 1e3)
    }

    /// The median time of some runs.
    private static func milliseconds(_ runs: Int, _ body: () throws -> Void) rethrows -> Double {
        var times: [Duration] = []
        for _ in 0..<runs {
            let started = ContinuousClock.now
            try body()
            times.append(ContinuousClock.now - started)
        }
        return times.percentile(0.5).seconds * 1e3
    }
}
