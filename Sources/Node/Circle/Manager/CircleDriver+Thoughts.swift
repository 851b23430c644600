internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Node
internal import RunarNode
internal import SealedMessages

// Conversations, and the thoughts that are stored.
extension CircleDriver {
    /// The public id of the conversation with a person.
    func conversationId(with person: PublicID) -> PublicID {
        PublicID(of: Conversation.id(between: ownId, and: person))
    }

    /// The stream of the conversation with a person, which is made if it is missing.
    func conversation(with id: PublicID, _ person: KnownPerson) throws -> UUID {
        let uuid = Conversation.id(between: ownId, and: id)
        if try store.profile(PublicID(of: uuid)) != nil { return uuid }
        try makeAccount()
        try store.save(
            Stream(
                id: uuid,
                creatorPublicID: ownId,
                profile: Profile(id: uuid, name: person.card?.profile.name ?? id.text),
                policies: StreamPolicies(),
                isInnerCircle: true,
                sourcePublicID: nil,
                members: [Stream.Member(person: id, hasJoined: true)],
                participation: .joined,
                revision: 1
            )
        )
        return uuid
    }

    func thoughts(in id: PublicID, before number: UInt64?, limit: Int) throws -> [Thought] {
        guard let stream = try store.stream(id) else { return [] }
        let history = history
        return try store.thoughts(in: stream.id, before: number, limit: limit).map { stored in
            try thought(stored, history.open(stored))
        }
    }

    /// The thoughts that are decrypted between two looks at the clock in a search.
    private static let searchPage = 256

    func search(
        in id: PublicID,
        before number: UInt64?,
        limit: Int,
        for duration: Duration,
        where isWanted: (ThoughtServiceModel) -> Bool
    ) throws -> (found: [Thought], searchedTo: UInt64?) {
        let end = node.clock.now().monotonic + duration
        guard let stream = try store.stream(id) else { return ([], nil) }
        let history = history
        var (found, last): ([Thought], UInt64?) = ([], number)
        while true {
            let page = try store.thoughts(in: stream.id, before: last, limit: Self.searchPage)
            let isLastPage = page.count < Self.searchPage
            for (index, stored) in page.enumerated() {
                last = stored.number
                let model = try history.open(stored)
                guard isWanted(model) else { continue }
                found.append(try thought(stored, model))
                if found.count == limit { return (found, isLastPage && index == page.count - 1 ? nil : last) }
            }
            if isLastPage { return (found, nil) }
            if node.clock.now().monotonic >= end { return (found, last) }
        }
    }

    func thought(_ id: PublicID) throws -> Thought {
        guard let stored = try store.thought(id) else { throw CircleError.unknownThought(id) }
        return try thought(stored, history.open(stored))
    }

    private func thought(_ stored: StoredThought, _ model: ThoughtServiceModel) throws -> Thought {
        let otherDevices = otherDevices
        return Thought(
            id: stored.id,
            number: stored.number ?? 0,
            model: model,
            // The copies of this person's other devices are no answer of a recipient.
            deliveries: try store.deliveries(of: stored.publicID).filter { !otherDevices.contains($0.peerId) }.map {
                Delivery(device: $0.peerId, state: $0.state, holders: $0.holders)
            }
        )
    }

    /// Sends receipts to the devices of the creators that thoughts were seen, once for each thought.
    ///
    /// A receipt costs a key; without keys, or without room in the outgoing mail, it waits.
    func noteOpened(_ thoughts: [Thought]) async throws {
        let others = Dictionary(grouping: thoughts.filter { $0.model.creatorPublicID != ownId }) {
            [$0.model.streamPublicID, $0.model.creatorPublicID]
        }
        for (place, thoughts) in others {
            let (stream, person) = (place[0], place[1])
            let devices = try await mutex.withLock { () -> [PeerId] in
                let seen = try store.openedNumber(in: stream, of: person)
                let thoughts = thoughts.filter { $0.number > seen }
                guard let last = thoughts.map(\.number).max() else { return [] }
                let devices = self.devices(belongingTo: person).filter { device in
                    // This device may have keys of it to open with, while those to seal with are still on their way.
                    trustedPerson(of: device) != nil && keys.relationship(with: device) != nil
                }
                try store.noteOpened(
                    last,
                    in: stream,
                    of: person,
                    owing: thoughts.map { StoredOwedLetter(.opened, $0.publicID.bytes) },
                    to: devices
                )
                return devices
            }
            for device in devices { await sendOwed(to: device) }
        }
    }
}
