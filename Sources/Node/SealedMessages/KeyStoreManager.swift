internal import Concurrency
internal import Essentials
public import Identity
internal import Node
public import OneTimeKeys
internal import Platform
public import RunarNode

/// The one-time keys of a node, and the messages that are sealed with them.
///
/// A key is used once. The use of a peer's key is durable before a message leaves, and the private half of a key is
/// erased, durably, before the plaintext of its message is released: a crash neither reuses a key nor shows a message
/// twice. Pools lie in the directory of the node's database, or in memory if the node has none.
///
/// ```swift
/// let keys = try KeyStoreManager(node: node)
/// let relationship = try await keys.exchangeKeys(with: friend)
/// print(relationship.safetyNumber)     // compare it with the friend's
/// try await keys.send(Array("hello".utf8), to: friend)
/// ```
public final class KeyStoreManager: Sendable {
    private let driver: KeyExchangeDriver
    private let running: Task<Void, Never>

    /// Reads the pools of a node, and answers its peers from now on.
    ///
    /// A node has one manager at a time. A relationship with a damaged file is left out, and the node's log names it.
    ///
    /// - Throws: ``SealedMessageError/managerExists``; `KeychainError` if the device's key cannot be read.
    public convenience init(node: RunarNode) throws { try self.init(node: node, capacity: nil) }

    /// Reads the pools of a node whose new pools have `capacity` keys; nil for those of the suite.
    package init(node: RunarNode, capacity: Int?) throws {
        guard node.reserveBuiltIn(KeyExchangeDriver.servicePath) else { throw SealedMessageError.managerExists }
        do {
            driver = try KeyExchangeDriver(node: node, capacity: capacity)
        } catch {
            node.removeBuiltIn(KeyExchangeDriver.servicePath)
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

    /// Ends the exchanges and the streams, and returns once nothing is written any longer.
    package func end() async {
        running.cancel()
        driver.end()
        await running.value
    }

    /// The relationships, ordered by the peer's id.
    public var relationships: [KeyRelationship] { driver.relationships }

    /// The relationship with one peer; nil if keys were never exchanged.
    public func relationship(with peer: PeerId) -> KeyRelationship? { driver.relationship(with: peer) }

    /// Each relationship that changes from now on, as it is after the change.
    public var changes: AsyncStream<KeyRelationship> { driver.changes() }

    /// Exchanges new pools with a peer, in both directions, and returns once both devices have stored them.
    ///
    /// - Throws: ``SealedMessageError/exchangeFailed(_:)`` and ``SealedMessageError/notConnected(_:)``;
    ///   `CancellationError`. Earlier pools stay after a failure.
    @discardableResult
    public func exchangeKeys(with peer: PeerId) async throws -> KeyRelationship {
        try await driver.exchangeKeys(with: peer)
    }

    /// Begins an exchange, and does not wait for its outcome, which ``changes`` reports.
    package func beginExchange(with peer: PeerId) async throws { try await driver.begin(peer) }

    /// Marks the relationship as verified if the digits are those of its exchange.
    ///
    /// - Throws: ``SealedMessageError/wrongSafetyNumber`` and ``SealedMessageError/noKeys(_:)``.
    public func verify(_ number: SafetyNumber, with peer: PeerId) async throws {
        try await driver.verify(number, with: peer)
    }

    /// Deletes all keys of the relationship with a peer.
    public func removeKeys(of peer: PeerId) async throws { try await driver.removeKeys(of: peer) }

    /// Seals a message to the next key of a peer; the use of the key is durable when this returns.
    ///
    /// - Throws: ``SealedMessageError/noKeys(_:)``, ``OneTimeKeyError/noKeysAvailable``,
    ///   ``OneTimeKeyError/tooLarge(limit:found:)``; an error of the disk.
    public func seal(_ plaintext: [UInt8], to peer: PeerId) async throws -> SealedMessage {
        try await driver.seal(plaintext, to: peer)
    }

    /// Opens a message of a peer, whose key is erased, durably, when this returns.
    ///
    /// - Throws: ``SealedMessageError/noKeys(_:)``, ``OneTimeKeyError/keyUsed``, ``OneTimeKeyError/keyNotFound``,
    ///   ``OneTimeKeyError/authenticationFailed``; an error of the disk.
    public func open(_ message: SealedMessage, from peer: PeerId) async throws -> [UInt8] {
        try await driver.open(message, from: peer)
    }

    /// Opens a message of a peer as ``open(_:from:)``, once `store` has made the plaintext durable.
    ///
    /// A crash before the key is erased leaves the message stored and its key whole: ``eraseKey(of:from:)`` erases it when
    /// the message comes again.
    package func open(
        _ message: SealedMessage,
        from peer: PeerId,
        storing store: @Sendable ([UInt8]) throws -> Void
    ) async throws -> [UInt8] {
        try await driver.open(message, from: peer, storing: store)
    }

    /// Erases the key of a message that was stored before; does nothing if it is erased.
    package func eraseKey(of message: SealedMessage, from peer: PeerId) async throws {
        try await driver.eraseKey(of: message, from: peer)
    }

    /// Refuses the exchanges that a peer begins, or takes them again.
    package func setRefused(_ isRefused: Bool, _ peer: PeerId) { driver.setRefused(isRefused, peer) }

    /// The peer to which a one-time key was given; nil if this device does not have the key.
    package func peer(ofKey name: OneTimeKeyName) -> PeerId? { driver.peer(ofKey: name) }

    /// The key of a peer's device, as the last exchange proved it.
    package func deviceKey(of peer: PeerId) -> Ed25519PublicKey? { driver.deviceKey(of: peer) }

    /// Seals a message to a peer and returns once a listener there has the plaintext, and confirmed it where it must.
    ///
    /// A message may have arrived although sending failed. It is not sent again, and its key is not used again. What waits
    /// for a listener is lost if that ends.
    ///
    /// - Throws: As ``seal(_:to:)``; ``SealedMessageError/notReceived``; `RunarError` if the peer cannot be reached.
    public func send(_ plaintext: [UInt8], to peer: PeerId) async throws {
        try await driver.send(plaintext, to: peer)
    }

    /// The sealed messages that arrive from now on.
    public func startListening() -> AsyncStream<SealedDelivery> { driver.listeners.listen() }

    /// The sealed messages from now on, for an observer; see `RunarNode.observeMessages()`.
    package func observeMessages() -> AsyncStream<SealedDelivery> { driver.listeners.observe { $0 } }

    /// The sealed messages from now on, to be confirmed; see `RunarNode.listenConfirming()`.
    package func listenConfirming() -> AsyncStream<(SealedDelivery, Confirmation)> {
        driver.listeners.listenConfirming { $0 }
    }
}
