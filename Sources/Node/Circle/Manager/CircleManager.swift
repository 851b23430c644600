internal import Concurrency
public import Identity
internal import Node
internal import OneTimeKeys
public import RunarNode
public import SealedMessages
internal import Storage

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

    /// The card of this device's person; nil before ``setProfile(name:blurb:)``.
    public var card: ProfileCard? { driver.state.withLock { $0.ownCard } }

    /// The people in an order of their ids, also those in whom trust was revoked.
    public var people: [Person] { driver.people }

    /// Sets the profile of this device's person, and sends the new card to those whom the person trusts.
    ///
    /// - Throws: ``CircleError``; `StorageError`.
    public func setProfile(name: String, blurb: String? = nil) async throws {
        try await driver.setProfile(name: name, blurb: blurb)
    }

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
    /// - Throws: ``CircleError/unknownPerson(_:)``.
    public func decline(_ person: PublicID) async throws { try await driver.handle(.decline, of: person) }

    /// Notes that the safety number of a person was compared.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)``; ``CircleError/wrongSafetyNumber``.
    public func verify(_ number: SafetyNumber, of person: PublicID) async throws {
        try await driver.verify(number, of: person)
    }

    /// Revokes the trust in a person: nothing of the person is taken, and nothing goes to the person.
    ///
    /// In one transaction the person becomes a tombstone, the devices are banned, and the mail for them is deleted; then
    /// the connections are closed and both pools with each device are destroyed. A crash in between is made good at the
    /// next start. Trust returns only if this person calls ``accept(_:)`` and the other one consents again.
    ///
    /// - Throws: ``CircleError/unknownPerson(_:)``; `StorageError`, and then nothing was changed.
    public func revokeTrust(in person: PublicID) async throws { try await driver.handle(.revoke, of: person) }

    // MARK: Thoughts

    /// The public id of the stream of the conversation with a person.
    public func conversation(with person: PublicID) -> PublicID {
        PublicID(of: Conversation.id(between: driver.ownID, and: person))
    }

    /// Says something to a person, and returns once it is stored; the deliveries follow.
    ///
    /// - Throws: ``CircleError/notTrusted(_:)``; ``CircleError/tooLong(_:limit:found:)``; `StorageError`.
    @discardableResult
    public func say(_ text: String, to person: PublicID) async throws -> Thought {
        try await driver.send(.say, Array(text.utf8), nil, nil, to: person)
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
        try await driver.send(mediaType, content, contentType, fileName, to: person)
    }

    /// The newest thoughts of the conversation with a person before a place, the newest first.
    ///
    /// - Throws: `StorageError`.
    public func thoughts(with person: PublicID, before number: UInt64? = nil, limit: Int = 50) throws -> [Thought] {
        try driver.thoughts(with: person, before: number, limit: limit)
    }

    /// Tells the creator of thoughts that this device's person saw them.
    ///
    /// - Throws: `StorageError`.
    public func noteOpened(_ thoughts: [Thought]) async throws { try await driver.noteOpened(thoughts) }
}
