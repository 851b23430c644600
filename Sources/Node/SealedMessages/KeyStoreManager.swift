internal import Concurrency
internal import Identity
internal import Node
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
    let driver: KeyExchangeDriver
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
        node.addBuiltIn(makeService())
        node.host(keysOf: driver)
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

    /// The sealed messages that arrive from now on.
    public func startListening() -> AsyncStream<SealedDelivery> { driver.listeners.listen() }

    /// The sealed messages from now on, for an observer; see `RunarNode.observeMessages()`.
    package func observeMessages() -> AsyncStream<SealedDelivery> { driver.listeners.observe { $0 } }

    /// The sealed messages from now on, to be confirmed; see `RunarNode.listenConfirming()`.
    package func listenConfirming() -> AsyncStream<(SealedDelivery, Confirmation)> {
        driver.listeners.listenConfirming { $0 }
    }
}
