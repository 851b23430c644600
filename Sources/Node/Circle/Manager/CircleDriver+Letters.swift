internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
internal import Mailbox
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages
internal import Storage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Letters that go out are sealed for each device and given to the mail of the node.
extension CircleDriver {
    // MARK: Sending

    func send(
        _ mediaType: MediaType,
        _ content: [UInt8],
        _ contentType: String?,
        _ fileName: String?,
        to id: PublicID
    ) async throws -> Thought {
        let person = try known(id)
        guard person.trust.state == .trusted else { throw CircleError.notTrusted(id) }
        let stream = try conversation(with: id, person)
        let model = try ThoughtServiceModel(
            creatorPublicID: ownID,
            streamPublicID: stream.publicID,
            mediaType: mediaType,
            createdAtMilliseconds: milliseconds,
            content: content,
            contentType: contentType,
            fileName: fileName
        )
        let stored = StoredThought(
            id: UUID().bytes,
            publicID: model.publicID.bytes,
            streamID: stream.id.bytes,
            creator: ownID.bytes,
            mediaType: mediaType.rawValue,
            createdAt: model.createdAtMilliseconds,
            nano: try history.seal(model)
        )
        let waiting = person.devices.map { device in
            StoredDelivery(thought: stored.publicID, peerId: device, state: DeliveryState.waiting.rawValue)
        }
        try store.add(stored, waiting)
        let sealed = try SealedContent(model.bytes)
        for delivery in waiting { await seal(sealed, delivery) }
        return try thought(model.publicID)
    }

    /// Seals a thought for a device and gives it to the mail; without keys it waits.
    private func seal(_ content: SealedContent, _ delivery: StoredDelivery) async {
        await attempt("sealing a thought") {
            do {
                try await seal(content, for: delivery)
            } catch SealedMessageError.noKeys, OneTimeKeyError.noKeysAvailable {
                // It is sealed when keys come.
            }
        }
    }

    private func seal(_ content: SealedContent, for delivery: StoredDelivery) async throws {
        try await turns.withLock {
            // Trust may have been revoked meanwhile; then the delivery is refused.
            let present = try store.deliveries(of: delivery.thought).first { $0.peerId == delivery.peerId }
            guard var delivery = present, delivery.mailId == nil, delivery.state == DeliveryState.waiting.rawValue,
                isTrusted(delivery.peerId)
            else { return }
            let (copy, keys) = try content.copy()
            try await mail(.thought, content: (keys, content.digest), copy: copy, to: delivery.peerId) { id in
                delivery.mailId = id.bytes
                try store.save(delivery)
            }
        }
    }

    /// Seals the thoughts that waited for keys of a device.
    func sealWaiting(for device: PeerId) async throws {
        for delivery in try store.unsealedDeliveries(to: device) {
            guard let stored = try store.thought(delivery.thought) else { continue }
            let model = try history.open(stored.nano, of: PublicID(bytes: stored.publicID))
            await seal(try SealedContent(model.bytes), delivery)
        }
    }

    /// Sends a letter without content.
    func post(_ kind: Letter.Kind, body: [UInt8], to device: PeerId) async throws {
        guard isTrusted(device) else { return }
        try await mail(kind, body: body, to: device)
    }

    /// Seals the receipts and the card that a device is to get; without keys they wait.
    func sendOwed(to device: PeerId) async {
        await attempt("sending receipts") {
            do {
                try await turns.withLock {
                    guard isTrusted(device) else { return }
                    let owed = try store.owedLetters(to: device)
                    if owed.contains(.card), let card = state.withLock({ $0.ownCard }),
                        try await mail(.card, body: card.bytes, to: device)
                    {
                        try store.settle([.card], to: device)
                    }
                    let thoughts = try owed.compactMap { letter in
                        if case .receipt(let thought) = letter { try PublicID(bytes: thought) } else { nil }
                    }
                    for start in stride(from: 0, to: thoughts.count, by: Receipt.thoughtLimit) {
                        let page = Array(thoughts[start..<min(start + Receipt.thoughtLimit, thoughts.count)])
                        guard try await mail(.receipt, body: Receipt(.delivered, of: page).bytes, to: device) else {
                            return
                        }
                        try store.settle(page.map { .receipt($0.bytes) }, to: device)
                    }
                }
            } catch SealedMessageError.noKeys, OneTimeKeyError.noKeysAvailable {
                // They are sealed when keys come.
            }
        }
    }

    private func isTrusted(_ device: PeerId) -> Bool { trustedPerson(of: device) != nil }

    /// Whether this person invited the person of a device, who may have consented already.
    func isInvited(_ device: PeerId) -> Bool {
        state.withLock { state in
            state.invitedDevices.contains(device)
                || state.people.values.contains { $0.trust.state == .invited && $0.devices.contains(device) }
        }
    }

    /// The trusted person whose device this is.
    func trustedPerson(of device: PeerId) -> PublicID? {
        state.withLock { state in
            state.people.first { $0.value.trust.state == .trusted && $0.value.devices.contains(device) }?.key
        }
    }

    /// Seals a letter and gives it to the mail; returns false if no network is common.
    @discardableResult
    private func mail(
        _ kind: Letter.Kind,
        body: [UInt8] = [],
        content: (keys: SealedContent.Keys, digest: [UInt8])? = nil,
        copy: [UInt8] = [],
        to device: PeerId,
        noting note: (MailID) throws -> Void = { _ in }
    ) async throws -> Bool {
        guard let network = try network(of: device) else { return false }
        let letter = try Letter(
            kind,
            body: body,
            content: content,
            sentMilliseconds: milliseconds,
            to: device,
            signedBy: deviceKey.privateKey
        )
        let sealed = try await keys.seal(letter.bytes, to: device).bytes
        var writer = ByteWriter(capacity: 4 + sealed.count + copy.count)
        writer.write(UInt32(sealed.count))
        writer.write(sealed)
        writer.write(copy)
        let homes = state.withLock { state in
            state.people.values.first { $0.devices.contains(device) }?.card?.homes ?? []
        }
        try node.submitMail(
            writer.bytes,
            to: device,
            in: network,
            lifetimeSeconds: Self.lifetimeSeconds,
            homes: homes,
            noting: note
        )
        return true
    }

    // MARK: Progress

    /// Notes how far the mails of thoughts have come.
    func followMail() async {
        for await step in node.mailProgress {
            let (deliveryState, holders): (DeliveryState, Int) =
                switch step.progress {
                case .held(let holders): (.stored, holders.count)
                case .delivered: (.delivered, 0)
                case .refused: (.refused, 0)
                case .expired: (.expired, 0)
                }
            await attempt("noting a delivery") {
                let changed = try store.setDelivery(
                    of: step.id.bytes,
                    to: deliveryState.rawValue,
                    holders: holders
                )
                try report(changed)
            }
        }
    }

    func report(_ delivery: StoredDelivery?) throws {
        guard let delivery else { return }
        events.send(.deliveryChanged(try thought(PublicID(bytes: delivery.thought))))
    }

    // MARK: Conversations

    /// The stream of the conversation with a person, which is made if it is missing.
    func conversation(with id: PublicID, _ person: KnownPerson) throws -> (id: UUID, publicID: PublicID) {
        let uuid = Conversation.id(between: ownID, and: id)
        let publicID = PublicID(of: uuid)
        if try store.profile(publicID.bytes) != nil { return (uuid, publicID) }
        let profile = Profile(id: uuid, name: person.card?.profile.name ?? id.text)
        if try store.account() == nil {
            try store.save(
                StoredAccount(identityAssuranceLevel: "ial0", ageVerificationStatus: "unverified", profile: nil)
            )
        }
        try store.save(
            StoredStream(
                id: uuid.bytes,
                publicID: publicID.bytes,
                creator: ownID.bytes,
                profile: StoredProfile(profile),
                isInnerCircle: true,
                members: [id.bytes]
            )
        )
        return (uuid, publicID)
    }

    func thoughts(with id: PublicID, before number: UInt64?, limit: Int) throws -> [Thought] {
        let stream = Conversation.id(between: ownID, and: id)
        return try store.thoughts(in: stream.bytes, before: number, limit: limit).map(thought)
    }

    func thought(_ id: PublicID) throws -> Thought {
        guard let stored = try store.thought(id.bytes) else {
            throw CircleError.malformed(of: "a thought", reason: "it was deleted")
        }
        return try thought(stored)
    }

    private func thought(_ stored: StoredThought) throws -> Thought {
        let id = try PublicID(bytes: stored.publicID)
        return Thought(
            id: UUID(bytes: stored.id) ?? UUID(),
            number: stored.number,
            model: try history.open(stored.nano, of: id),
            deliveries: try store.deliveries(of: stored.publicID).map { delivery in
                Delivery(
                    device: delivery.peerId,
                    state: DeliveryState(rawValue: delivery.state) ?? .waiting,
                    holders: delivery.holders
                )
            }
        )
    }

    /// Tells the devices of the creators that thoughts were seen, once for each thought: a receipt costs a key.
    func noteOpened(_ thoughts: [Thought]) async throws {
        let others = Dictionary(grouping: thoughts.filter { $0.model.creatorPublicID != ownID }) {
            $0.model.creatorPublicID
        }
        for (person, thoughts) in others {
            let setting = "circle/opened/\(person.text)"
            let seen = try store.setting(setting).map { try ByteReader.number(in: $0) } ?? 0
            let thoughts = thoughts.filter { $0.number > seen }
            guard let last = thoughts.map(\.number).max() else { continue }
            for device in try known(person).devices {
                for start in stride(from: 0, to: thoughts.count, by: Receipt.thoughtLimit) {
                    let page = thoughts[start..<min(start + Receipt.thoughtLimit, thoughts.count)].map(\.publicID)
                    try await post(.receipt, body: Receipt(.opened, of: page).bytes, to: device)
                }
            }
            var writer = ByteWriter(capacity: 8)
            writer.write(last)
            try store.set(setting, to: writer.bytes)
        }
    }
}

extension ByteReader {
    /// The number that 8 bytes are.
    fileprivate static func number(in bytes: [UInt8]) throws(BytesError) -> UInt64 {
        var reader = ByteReader(bytes)
        return try reader.readUInt64()
    }
}
