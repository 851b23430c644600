internal import Bytes
internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Identity
internal import Logging
internal import Mailbox
internal import Node
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

/// Applies the effects of trust, and moves letters between the database, the one-time keys and the mail of a node.
///
/// A mutex serialises changes, so that the disk and the memory agree.
final class CircleDriver: Sendable {
    struct State: Sendable {
        /// The key of this device's person; it changes when another device of the person sets this one up.
        var personKey: Ed25519KeyPair
        /// The card of this device's person.
        var ownCard: ProfileCard?
        var people: [PublicID: KnownPerson] = [:]
        /// The devices that were invited and whose person is not known yet.
        var invitedDevices: Set<PeerId> = []
        /// The people who are blocked.
        var blocked: Set<PublicID> = []
        /// The devices that may not ask for trust, in the order in which this person chose that.
        var ignoredDevices: [PeerId] = []
        /// The mail that waits for another letter, with its bytes and the time since when, in milliseconds since 1970; a
        /// sender that no card names is nil.
        var waiting: [MailId: (byteCount: Int, since: UInt64, sender: PeerId?)] = [:]
        /// The devices for which thoughts or letters wait until the outgoing mail of a network has room.
        var devicesWithoutRoom: [PeerId: NetworkId] = [:]
        /// The device that may set up this one, until a time in milliseconds since 1970.
        var expectedDevice: (peer: PeerId, until: UInt64)?
    }

    /// A person with the trust in that person.
    struct KnownPerson: Sendable {
        let key: Ed25519PublicKey
        var card: ProfileCard?
        var trust: Trust
        var verifiedAt: UInt64?
        /// The time of the last change of the trust, in seconds since 1970.
        var changedSeconds: UInt64 = 0

        var devices: [PeerId] { card?.devices ?? [] }
    }

    static let servicePath = "$circle"
    /// The lifetime of mail: 29 days, a day less than holders allow, because clocks differ.
    static let lifetimeSeconds: UInt64 = 29 * 86_400
    private static let listenerCapacity = 1_024

    let node: RunarNode
    let keys: KeyStoreManager
    let store: CircleStore
    let deviceKey: Ed25519KeyPair
    /// The key to which mail for this device is sealed.
    let mailKey: SealingKeyPair
    let mutex = AsyncMutex()
    let state: Locked<State>
    let events = Broadcaster<CircleEvent>(capacity: listenerCapacity)
    /// The people whom this person consented to trust by joining a stream; each receives a request.
    let consents = BoundedChannel<PublicID>(limit: 4_096)
    /// The sign that a mail has left, so that outgoing mail has room for another one.
    let room = BoundedChannel<Void>(limit: 1)
    private let hasEnded = Locked(false)

    init(node: RunarNode, keys: KeyStoreManager) throws {
        self.node = node
        self.keys = keys
        store = try CircleStore(node.stateStore)
        deviceKey = try node.deviceKey()
        mailKey = KeyDerivation.deriveMailKey(peerKey: deviceKey.privateKey)
        var state = State(personKey: try node.personKey())
        for person in try store.people() {
            guard let known = KnownPerson(person) else {
                node.logs[.storage].error("a person of the circle cannot be read, and is left out")
                continue
            }
            state.people[person.publicID] = known
        }
        if let bytes = try store.ownCard() { state.ownCard = try ProfileCard(bytes) }
        state.blocked = Set(try store.blocks().map(\.blockedPublicID))
        state.ignoredDevices = try store.ignoredDevices()
        self.state = Locked(state)
    }

    /// The key of this device's person.
    var personKey: Ed25519KeyPair { state.withLock { $0.personKey } }

    /// Encrypts thoughts at rest.
    var history: HistoryCipher {
        HistoryCipher(key: KeyDerivation.deriveHistoryKey(personKey: personKey.privateKey))
    }

    /// The devices of this person besides this one.
    var otherDevices: [PeerId] {
        let localPeerId = localPeerId
        return state.withLock { $0.ownCard?.devices.filter { $0 != localPeerId } ?? [] }
    }

    /// The id of this device's person.
    var ownId: PublicID { PublicID(of: Profile.id(ofPerson: personKey.publicKey)) }

    var localPeerId: PeerId { PeerId(publicKey: deviceKey.publicKey) }

    /// The present time in milliseconds since 1970.
    var milliseconds: UInt64 { node.clock.wallMilliseconds() }

    // MARK: Running

    /// Takes mail, follows its progress, and acts when people connect, until the task is cancelled.
    func run() async {
        let incoming = node.openMailbox()
        defer { node.closeMailbox() }
        // Before the first steps, so that nothing is missed that happens meanwhile.
        let (connections, progress, keyChanges) = (node.eventStream, node.mailProgress, keys.changes)
        let connected = node.connectedPeers()
        await attempt("renewing the card") { try await renewCard() }
        await repeatRevocations()
        await sealAllWaiting()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.receive(from: incoming) }
            group.addTask { await self.followMail(progress) }
            group.addTask { await self.followRoom() }
            group.addTask {
                for peer in connected { await self.handleConnection(of: peer) }
                for await case .peerJoined(let peer, _) in connections { await self.handleConnection(of: peer) }
            }
            group.addTask { await self.followKeys(keyChanges) }
            group.addTask { await self.followConsents() }
            group.addTask { await self.pruneEachDay() }
        }
    }

    /// Ends the streams and the service.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        // The service may be that of another circle by now.
        guard isFirst else { return }
        node.removeBuiltIn(Self.servicePath)
        node.closeMailbox()
        events.finish()
    }

    /// Repeats the effects of revocations, in case an earlier process ended between them.
    private func repeatRevocations() async {
        for (id, person) in state.withLock({ $0.people }) where person.trust.state == .revoked {
            await attempt("the revocation of a person") { try await handle(.start, of: id) }
        }
    }

    /// Seals the thoughts for which an earlier process had no time.
    private func sealAllWaiting() async {
        let devices = devices(of: state.withLock { Array($0.people.keys) })
        for device in devices + otherDevices { await sendWaiting(to: device) }
    }

    /// Seals the thoughts and letters that wait for a device.
    func sendWaiting(to device: PeerId) async {
        state.withLock { $0.devicesWithoutRoom[device] = nil }
        await attempt("sending what waits") { try await sealWaiting(for: device) }
        await sendOwed(to: device)
    }

    /// Exchanges keys with a connected device of a person, and sends what waits for it.
    private func handleConnection(of peer: PeerId) async {
        if otherDevices.contains(peer) {
            await exchangeKeys(with: [peer])
            return await sendWaiting(to: peer)
        }
        guard let id = owner(of: peer), let known = state.withLock({ $0.people[id] }) else { return }
        switch known.trust.state {
        case .invited: await attempt("an invitation") { try await handle(.start, of: id) }
        case .trusted:
            // A device without keys may have a card that names a former key of this one.
            if keys.relationship(with: peer)?.suite == nil { await send("request", to: [peer]) }
            await exchangeKeys(with: [peer])
            await sendWaiting(to: peer)
        case .none, .requested, .revoked: break
        }
    }

    private func followKeys(_ changes: AsyncStream<KeyRelationship>) async {
        for await relationship in changes where relationship.sendingKeyCount > 0 {
            await sendWaiting(to: relationship.peer)
        }
    }

    /// Runs something of which no caller waits for the outcome; an error goes to the log.
    func attempt(_ what: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
            // The circle ends.
        } catch {
            node.logs[.messages].warning("\(what) failed: \(error)")
        }
    }
}

extension CircleDriver.KnownPerson {
    init?(_ stored: StoredPerson) {
        do {
            key = try Ed25519PublicKey(rawRepresentation: stored.key)
            card = try stored.card.map { try ProfileCard($0) }
        } catch {
            return nil
        }
        trust = Trust(stored.trust)
        verifiedAt = stored.verifiedAt
        changedSeconds = stored.changedAt
    }
}
