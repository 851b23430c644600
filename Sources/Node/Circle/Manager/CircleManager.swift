public import CircleModel
internal import Concurrency
public import Identity
internal import Node
internal import OneTimeKeys
public import RunarNode
public import SealedMessages

/// The people whom this device's person trusts, and the thoughts that they exchange.
///
/// Trust needs the consent of both people. Thoughts are sealed with one-time keys for each device of the recipient, and
/// held by members of the network while that is offline. Everything is stored in the node's database; the content of
/// thoughts is encrypted under a key of the vault.
///
/// ```swift
/// let circle = try CircleManager(node: node, keys: keys)
/// try await circle.setProfile(name: "Ada")
/// try await circle.invite(friendsDevice)
/// for await event in circle.events {
///     if case .trustChanged(let friend, .trusted) = event { try await circle.say("Hello", to: friend.id) }
/// }
/// ```
public final class CircleManager: Sendable {
    let driver: CircleDriver
    private let running: Task<Void, Never>

    /// Reads the circle of a node, and takes its mail from now on.
    ///
    /// - Throws: ``CircleError/managerExists``; `KeychainError`; `StorageError`.
    public init(node: RunarNode, keys: KeyStoreManager) throws {
        guard node.reserveBuiltIn(CircleDriver.servicePath) else { throw CircleError.managerExists }
        do {
            driver = try CircleDriver(node: node, keys: keys)
        } catch {
            node.removeBuiltIn(CircleDriver.servicePath)
            throw error
        }
        // Unstructured: it lives as long as this object.
        running = Task { [driver] in await driver.run() }
        node.addBuiltIn(driver.makeService())
    }

    deinit {
        running.cancel()
        driver.end()
    }

    /// Ends the circle, and returns once nothing is written any longer.
    package func end() async {
        running.cancel()
        driver.end()
        await running.value
    }

    /// Each change from now on.
    public var events: AsyncStream<CircleEvent> { driver.events.listen() }

    // MARK: People

    /// The card of this device's person; nil before ``setProfile(name:blurb:did:handle:)``.
    public var card: ProfileCard? { driver.state.withLock { $0.ownCard } }

    /// The people in an order of their ids, also those in whom trust was revoked.
    public var people: [Person] { driver.people }

    /// Sets the profile of this device's person, and sends the new card to those whom the person trusts.
    ///
    /// Without `did` and `handle` those of the former profile stay, because they belong to a registration and not to the text;
    /// an empty text removes one. A DID of the method did:key names a P-256 key, and other methods are accepted if their text
    /// follows W3C DID 1.0. A handle includes its domain, in lower case.
    ///
    /// - Throws: ``CircleError``; an error that names the right form of the DID or of the handle; `StorageError`.
    public func setProfile(
        name: String,
        blurb: String? = nil,
        did: String? = nil,
        handle: String? = nil
    ) async throws {
        try await driver.setProfile(name: name, blurb: blurb, did: did, handle: handle)
    }

    /// Chooses the members that hold mail for this person's devices; without any, the nearest ones do.
    ///
    /// Homes are members of the networks that the person shares with others, and may be devices of the person, this one
    /// included. A sender uses the homes that it knows in the network of a mail, without the recipient, which never holds its
    /// own mail. If none is left, the nearest members hold the mail. Mail that was sent before stays with its holders. Trusted
    /// people and the other devices of the person get the new card.
    ///
    /// - Throws: ``CircleError/tooLong(_:limit:found:)`` for more than ``ProfileCard/homeLimit`` homes;
    ///   ``CircleError/repeatedHome(_:)``; ``CircleError/unknownHome(_:)``; ``CircleError/notAllowed(_:)`` for a banned device;
    ///   ``CircleError/noProfile``; `StorageError`.
    public func setHomes(_ homes: [PeerId]) async throws { try await driver.setHomes(homes) }

    /// Asks the person of a connected device for trust, or accepts that person's request.
    ///
    /// - Throws: ``CircleError/noProfile``; `RunarError` if the device cannot be asked.
    public func invite(_ device: PeerId) async throws { try await driver.invite(device) }

    /// Asks the person of a card for trust, or accepts that person's request; devices that are offline are asked when
    /// they connect.
    ///
    /// The card came by another channel, for example a QR code.
    ///
    /// - Throws: ``CircleError/noProfile``; ``CircleError/ownCard``; `StorageError`.
    /// - Returns: The id of the person.
    @discardableResult
    public func invite(_ card: ProfileCard) async throws -> PublicID { try await driver.invite(card) }

    /// Accepts the request of a person, or invites a person in whom trust was revoked again.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)`` and ``CircleError/noProfile``.
    public func accept(_ person: PublicID) async throws { try await driver.accept(person) }

    /// Declines the request of a person.
    ///
    /// If `ignoringDevices` is true, further requests of the devices on the person's card are refused without a notification,
    /// whatever person they name, until this person invites one of them. The choice holds on this device.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)``; ``CircleError/notAllowed(_:)`` if the devices of a person who was invited or
    ///   trusted cannot be ignored; `StorageError`.
    public func decline(_ person: PublicID, ignoringDevices: Bool = false) async throws {
        try await driver.decline(person, ignoringDevices: ignoringDevices)
    }

    /// Notes that the safety number of a person was compared.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)``; ``CircleError/wrongSafetyNumber``.
    public func verify(_ number: SafetyNumber, of person: PublicID) async throws {
        try await driver.verify(number, of: person)
    }

    /// Revokes the trust in a person: no thought or card of the person is taken, and none goes to the person.
    ///
    /// In one transaction the person becomes a tombstone, the devices are banned, and the mail for them is deleted; then
    /// the connections are closed and both pools with each device are destroyed. A crash in between is made good at the
    /// next start. Devices that another trusted person's card names, or this person's own, are left alone. The person
    /// remains a member of common networks: other members pass on events and records, and where this device issued the
    /// person's token it renews it as before.
    ///
    /// Trust returns if this person calls ``accept(_:)``. A person who never revoked the trust is not asked again: the
    /// devices of that person consent by themselves.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)``; `StorageError`, and then nothing was changed.
    public func revokeTrust(in person: PublicID) async throws { try await driver.handle(.revoke, of: person) }

    // MARK: Thoughts

    /// The public id of the stream of the conversation with a person.
    public func conversation(with person: PublicID) -> PublicID { driver.conversationId(with: person) }

    /// Stores a thought for a person and returns; the deliveries follow.
    ///
    /// - Throws: ``CircleError/notTrusted(_:)``; ``CircleError/tooLong(_:limit:found:)``; `StorageError`.
    @discardableResult
    public func say(_ text: String, to person: PublicID) async throws -> Thought {
        try await send(.say, Array(text.utf8), to: person)
    }

    /// Sends content to a person, and returns once it is stored; the deliveries follow.
    ///
    /// - Throws: As ``say(_:to:)``.
    @discardableResult
    public func send(
        _ mediaType: MediaType,
        _ content: [UInt8],
        contentType: String? = nil,
        fileName: String? = nil,
        to person: PublicID
    ) async throws -> Thought {
        _ = try driver.known(person)
        let stream = conversation(with: person)
        return try await send(mediaType, content, contentType: contentType, fileName: fileName, in: stream)
    }

    /// Sends content to everybody in a stream whom this person trusts, and returns once it is stored; the deliveries
    /// follow.
    ///
    /// - Throws: ``CircleError/unknownStream(_:)``; ``CircleError/notJoined(_:)``; ``CircleError/notAllowed(_:)``;
    ///   ``CircleError/tooLong(_:limit:found:)``; `StorageError`.
    @discardableResult
    public func send(
        _ mediaType: MediaType,
        _ content: [UInt8],
        contentType: String? = nil,
        fileName: String? = nil,
        in stream: PublicID
    ) async throws -> Thought {
        try await driver.send(mediaType, content, contentType, fileName, in: stream)
    }

    /// The newest thoughts of the conversation with a person before a place, the newest first.
    ///
    /// - Throws: `StorageError`.
    public func thoughts(with person: PublicID, before number: UInt64? = nil, limit: Int = 50) throws -> [Thought] {
        try thoughts(in: conversation(with: person), before: number, limit: limit)
    }

    /// The newest thoughts of a stream before a place, the newest first.
    ///
    /// - Throws: `StorageError`.
    public func thoughts(in stream: PublicID, before number: UInt64? = nil, limit: Int = 50) throws -> [Thought] {
        try driver.thoughts(in: stream, before: number, limit: limit)
    }

    /// Searches a stream from the newest thought before a place on, for at most a time.
    ///
    /// Every thought is decrypted for it. Returns the thoughts that `isWanted` accepts, the newest first, at most `limit`, and
    /// the number from which to search on (`before`); nil if every thought was compared.
    ///
    /// - Throws: `StorageError`.
    public func search(
        in stream: PublicID,
        before number: UInt64? = nil,
        limit: Int = 50,
        for duration: Duration = .milliseconds(150),
        where isWanted: (ThoughtServiceModel) -> Bool
    ) throws -> (found: [Thought], searchedTo: UInt64?) {
        try driver.search(in: stream, before: number, limit: limit, for: duration, where: isWanted)
    }

    /// The thought with a public id.
    ///
    /// - Throws: ``CircleError/unknownThought(_:)``; `StorageError`.
    public func thought(_ id: PublicID) throws -> Thought { try driver.thought(id) }

    /// Sends receipts to the creators of thoughts that this device's person saw.
    ///
    /// - Throws: `StorageError`.
    public func noteOpened(_ thoughts: [Thought]) async throws { try await driver.noteOpened(thoughts) }
}

// Streams: groups, and posts of one person to many.
extension CircleManager {
    /// The streams that this person made or was invited to; without conversations.
    ///
    /// - Throws: `StorageError`.
    public func streams() throws -> [Stream] { try driver.streams() }

    /// The stream with a public id.
    ///
    /// - Throws: ``CircleError/unknownStream(_:)``; `StorageError`.
    public func stream(_ id: PublicID) throws -> Stream { try driver.stream(id) }

    /// Makes a stream without members.
    ///
    /// - Throws: ``CircleError/noProfile``; ``CircleError`` if the name or the blurb is too long; `StorageError`.
    public func makeStream(
        name: String,
        blurb: String? = nil,
        policies: StreamPolicies = StreamPolicies(),
        isInnerCircle: Bool = false,
        source: PublicID? = nil
    ) async throws -> Stream {
        guard card != nil else { throw CircleError.noProfile }
        return try await driver.makeStream(
            name: name,
            blurb: blurb,
            policies: policies,
            isInnerCircle: isInnerCircle,
            source: source
        )
    }

    /// Invites a person to a stream that this person made.
    ///
    /// - Throws: ``CircleError/notTrusted(_:)``; ``CircleError/notAllowed(_:)``; ``CircleError/unknownStream(_:)``;
    ///   ``CircleError/tooLong(_:limit:found:)`` if it is full, or the cards of its people do not fit into one letter;
    ///   `StorageError`.
    @discardableResult
    public func invite(_ person: PublicID, to stream: PublicID) async throws -> Stream {
        try await driver.invite(person, to: stream)
    }

    /// Removes a person from a stream that this person made.
    ///
    /// - Throws: As ``invite(_:to:)``.
    @discardableResult
    public func remove(_ person: PublicID, from stream: PublicID) async throws -> Stream {
        try await driver.remove(person, from: stream)
    }

    /// Joins a stream; where all write, that is also the consent to trust its members.
    ///
    /// - Throws: ``CircleError/unknownStream(_:)``; ``CircleError/notTrusted(_:)`` if this person does not trust the creator
    ///   any longer; `StorageError`.
    @discardableResult
    public func join(_ stream: PublicID) async throws -> Stream {
        try await driver.setParticipation(.joined, in: stream)
    }

    /// Leaves a stream, or declines the invitation; its thoughts stay.
    ///
    /// - Throws: ``CircleError/unknownStream(_:)``; ``CircleError/notAllowed(_:)`` for a stream that this person made.
    @discardableResult
    public func leave(_ stream: PublicID) async throws -> Stream {
        try await driver.setParticipation(.left, in: stream)
    }

    /// Deletes a stream with its thoughts, after leaving it or removing its members.
    ///
    /// - Throws: ``CircleError/unknownStream(_:)``; `StorageError`.
    public func deleteStream(_ stream: PublicID) async throws { try await driver.deleteStream(stream) }
}

// The account, its devices, and the people who are blocked.
extension CircleManager {
    /// The account of this device's person.
    ///
    /// - Throws: `StorageError`.
    public func account() throws -> Account { try driver.account() }

    /// Lets another device of this person give its person and circle to this device, once, within ten minutes.
    ///
    /// - Throws: ``CircleError/hasCircle`` if this device has people of its own.
    public func expectDevice(_ device: PeerId) throws { try driver.expect(device) }

    /// Gives this person and the circle to another device, which has to expect it.
    ///
    /// The device gets the person's key, the people and the streams, and from then on every thought. Earlier thoughts stay
    /// here.
    ///
    /// - Throws: ``CircleError/deviceNotReady(_:)``; ``CircleError/noProfile``; ``CircleError/tooLong(_:limit:found:)`` for
    ///   more than ``ProfileCard/deviceLimit`` devices; `RunarError` if the device cannot be asked.
    public func addDevice(_ device: PeerId) async throws { try await driver.addDevice(device) }

    /// Removes a lost device from the card and sends the new card to everybody: nothing is sealed for it any longer.
    ///
    /// The device keeps the person's key and its data. Revoke its membership of the networks as well.
    ///
    /// - Throws: ``CircleError/notAllowed(_:)`` if it is no other device of this person; `StorageError`.
    public func removeDevice(_ device: PeerId) async throws { try await driver.removeDevice(device) }

    /// The people who are blocked.
    ///
    /// - Throws: `StorageError`.
    public func blockedProfiles() throws -> [BlockedProfile] { try driver.blockedProfiles() }

    /// Blocks a person, with the severity (1 to 5) of each reason: an earlier trust is revoked, and no request is taken
    /// until the block is lifted.
    ///
    /// - Throws: ``CircleError``; `StorageError`.
    public func block(_ person: PublicID, reasons: [String: Int] = [:]) async throws {
        try await driver.block(person, reasons)
    }

    /// Lifts the block of a person, with the ban of the person's devices.
    ///
    /// The person may ask for trust again, and this person decides.
    ///
    /// - Throws: `StorageError`.
    public func unblock(_ person: PublicID) async throws { try await driver.unblock(person) }
}
