internal import Bytes
internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Mailbox
internal import Node
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// Letters that go out are sealed for each device and given to the mail of the node.
extension CircleDriver {
    // MARK: Sending

    func send(
        _ mediaType: MediaType,
        _ content: [UInt8],
        _ contentType: String?,
        _ fileName: String?,
        in id: PublicID
    ) async throws -> Thought {
        let (stream, recipients) = try destination(id)
        let model = try ThoughtServiceModel(
            creatorPublicID: ownId,
            streamPublicID: id,
            mediaType: mediaType,
            createdAtMilliseconds: milliseconds,
            content: content,
            contentType: contentType,
            fileName: fileName
        )
        let waiting = (devices(of: recipients) + otherDevices).map { device in
            StoredDelivery(thought: model.publicID, peerId: device)
        }
        try store.add(StoredThought(model, in: stream, nano: history.seal(model)), waiting)
        let sealed = try SealedContent(model.bytes)
        await seal(sealed, for: waiting)
        return try thought(model.publicID)
    }

    /// Seals a thought for devices, concurrently in one critical section, and gives it to the mail; without keys it
    /// waits.
    private func seal(_ content: SealedContent, for deliveries: [StoredDelivery]) async {
        await attempt("sealing a thought") {
            try await mutex.withLock {
                await withDiscardingTaskGroup { group in
                    for delivery in deliveries { group.addTask { await self.sealExclusively(content, for: delivery) } }
                }
            }
        }
    }

    private func sealExclusively(_ content: SealedContent, for delivery: StoredDelivery) async {
        await attempt("sealing a thought for a device") {
            do {
                // Trust may have been revoked meanwhile; then the delivery is refused.
                let present = try store.deliveries(of: delivery.thought).first { $0.peerId == delivery.peerId }
                guard var delivery = present, delivery.mailId == nil, delivery.state == .waiting,
                    isTrusted(delivery.peerId)
                else { return }
                let (copy, keys) = try content.copy()
                let parts = (keys: keys, digest: content.digest)
                try await mail(.thought, content: parts, copy: copy, to: delivery.peerId) { id in
                    delivery.mailId = id.bytes
                    try store.save(delivery)
                }
            } catch SealedMessageError.noKeys, OneTimeKeyError.noKeysAvailable, NodeError.tooMuchMail {
                // It is sealed when keys come, or when a mail has left.
            }
        }
    }

    /// Seals the thoughts that waited for keys of a device, or for room.
    func sealWaiting(for device: PeerId) async throws {
        for delivery in try store.unsealedDeliveries(to: device) {
            guard let stored = try store.thought(delivery.thought) else { continue }
            let content: SealedContent
            do {
                content = try SealedContent(history.open(stored).bytes)
            } catch {
                // It is damaged on disk and cannot be sealed later either; it must not block the others.
                node.logs[.messages].error("a thought cannot be read, and is not sent: \(error)")
                _ = try store.setDelivery(of: delivery.thought, to: delivery.peerId, state: .refused)
                continue
            }
            await seal(content, for: [delivery])
            if state.withLock({ $0.devicesWithoutRoom[device] != nil }) { return }
        }
    }

    /// Seals the letters that a device is owed; without keys they wait.
    func sendOwed(to device: PeerId) async {
        await attempt("sending letters") {
            do {
                try await mutex.withLock {
                    guard isTrusted(device) else { return }
                    let owed = try store.owedLetters(to: device)
                    for receiptState in Receipt.State.allCases {
                        let receipts = owed.filter { $0.kind.receiptState == receiptState }
                        for start in stride(from: 0, to: receipts.count, by: Receipt.thoughtLimit) {
                            let page = Array(receipts[start..<min(start + Receipt.thoughtLimit, receipts.count)])
                            let receipt = try Receipt(receiptState, of: page.map { try PublicID(bytes: $0.publicID) })
                            guard try await mail(.receipt, body: receipt.bytes, to: device) else { return }
                            try store.settle(page, to: device)
                        }
                    }
                    for letter in owed where letter.kind.receiptState == nil {
                        do {
                            guard try await mail(letter, to: device) else { return }
                        } catch let error as CircleError {
                            // It cannot be made later either, and must not block the others. The next change owes a new one.
                            node.logs[.messages].warning("a letter cannot be made, and is left out: \(error)")
                        }
                        try store.settle([letter], to: device)
                    }
                }
            } catch SealedMessageError.noKeys, OneTimeKeyError.noKeysAvailable, NodeError.tooMuchMail {
                // They are sealed when keys come, or when a mail has left.
            }
        }
    }

    /// Seals an owed letter with the present state of its subject; returns false without a common network.
    private func mail(_ letter: StoredOwedLetter, to device: PeerId) async throws -> Bool {
        switch letter.kind {
        case .receipt, .opened: return true  // they go in pages
        case .card:
            guard let card = state.withLock({ $0.ownCard }) else { return true }
            return try await mail(.card, body: card.bytes, to: device)
        case .stream:
            guard let description = try description(of: PublicID(bytes: letter.publicID), for: device) else {
                return true
            }
            let content = try SealedContent(description.bytes)
            let (copy, keys) = try content.copy()
            return try await mail(.stream, content: (keys, content.digest), copy: copy, to: device)
        case .participation:
            let notice = try participation(in: PublicID(bytes: letter.publicID), for: device)
            guard let notice else { return true }
            return try await mail(.participation, body: notice.bytes, to: device)
        case .person:
            guard let notice = try trustNotice(of: PublicID(bytes: letter.publicID)) else { return true }
            return try await mail(.trust, body: notice.bytes, to: device)
        }
    }

    private func isTrusted(_ device: PeerId) -> Bool { trustedPerson(of: device) != nil }

    /// Whether this person invited the person of a device, who may have consented already.
    func isInvited(_ device: PeerId) -> Bool {
        state.withLock { state in
            let owner = state.owner(of: device).flatMap { state.people[$0] }
            return state.invitedDevices.contains(device) || owner?.trust.state == .invited
        }
    }

    /// Seals a letter and gives it to the mail; returns false if no network is common, or the card does not name the device
    /// any longer.
    @discardableResult
    private func mail(
        _ kind: Letter.Kind,
        body: [UInt8] = [],
        content: (keys: SealedContent.Keys, digest: [UInt8])? = nil,
        copy: [UInt8] = [],
        to device: PeerId,
        noting note: (MailId) throws -> Void = { _ in }
    ) async throws -> Bool {
        let owner = trustedPerson(of: device)
        let found = state.withLock { state in owner.flatMap { state.people[$0]?.card ?? state.ownCard } }
        guard let network = try network(of: device), let card = found, let mailKey = card.mailKey(of: device) else {
            return false
        }
        let letter = try Letter(
            kind,
            body: body,
            content: content,
            sentMilliseconds: milliseconds,
            to: device,
            signedBy: deviceKey.privateKey
        )
        try await withRoom(for: device, in: network) {
            let envelope = Envelope(letter: try await keys.seal(letter.bytes, to: device).bytes, copy: copy)
            guard let body = envelope.seal(to: mailKey, of: device) else {
                throw CircleError.malformed(of: "the card of a person", reason: "the mail key of a device is refused")
            }
            try node.submitMail(
                body,
                to: device,
                in: network,
                lifetimeSeconds: Self.lifetimeSeconds,
                homes: homes(on: card, for: device, in: network),
                noting: note
            )
        }
        return true
    }

    // MARK: Room

    /// Runs `body`, which submits a mail, if the outgoing mail of a network has room.
    ///
    /// Otherwise it throws ``NodeError/tooMuchMail(_:limit:)``, and the device is tried again when a mail has left.
    private func withRoom(
        for device: PeerId,
        in network: NetworkId,
        _ body: () async throws -> Void
    ) async throws {
        do {
            try node.checkRoomForMail(in: network)
            try await body()
        } catch let error as NodeError {
            if case .tooMuchMail = error { noteFullMail(of: network, for: device) }
            throw error
        }
    }

    private func noteFullMail(of network: NetworkId, for device: PeerId) {
        state.withLock { $0.devicesWithoutRoom[device] = network }
        // A mail may have left before the device was noted.
        if (try? node.checkRoomForMail(in: network)) != nil { _ = room.offer(()) }  // nil: it is full
    }

    /// Sends what waits for room whenever a mail has left, until the task is cancelled.
    func followRoom() async {
        while (try? await room.next()) != nil { await sendWaitingForRoom() }  // nil: cancelled
    }

    /// Sends what waits for room in the outgoing mail of each network, until that is full again.
    private func sendWaitingForRoom() async {
        let waiting = state.withLock { state in Dictionary(grouping: state.devicesWithoutRoom) { $0.value } }
        for (network, devices) in waiting {
            for device in devices.map(\.key) {
                await sendWaiting(to: device)
                if state.withLock({ $0.devicesWithoutRoom[device] == network }) { break }
            }
        }
    }

    // MARK: Progress

    /// Notes how far the mails of thoughts have come.
    func followMail(_ progress: AsyncStream<MailProgress>) async {
        for await step in progress {
            let (deliveryState, holders): (DeliveryState, Int) =
                switch step.progress {
                case .held(let holders): (.stored, holders.count)
                case .delivered: (.delivered, 0)
                case .refused: (.refused, 0)
                case .expired: (.expired, 0)
                }
            await attempt("noting a delivery") {
                try report(store.setDelivery(of: step.id.bytes, to: deliveryState, holders: holders))
            }
            if step.progress.isFinal { _ = room.offer(()) }  // false: a signal is pending already
        }
    }

    func report(_ delivery: StoredDelivery?) throws {
        guard let delivery else { return }
        events.send(.deliveryChanged(try thought(delivery.thought)))
    }
}

extension StoredOwedLetter.Kind {
    /// The progress that a receipt of this kind reports; nil if it is no receipt.
    fileprivate var receiptState: Receipt.State? {
        switch self {
        case .receipt: .delivered
        case .opened: .opened
        case .card, .stream, .participation, .person: nil
        }
    }
}
