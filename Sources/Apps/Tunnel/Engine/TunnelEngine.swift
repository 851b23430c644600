/// A WireGuard data plane that its owner starts, configures and stops.
///
/// The owner keeps the interface with its addresses and routes, so an engine that ends unexpectedly is started again
/// without a change of the network.
package protocol TunnelEngine: Sendable {
    /// Starts the data plane with its first configuration; an engine that runs is stopped before.
    ///
    /// - Throws: ``TunnelError`` if the program cannot be started, ``UAPIError`` if it refuses the configuration.
    func start(with configuration: UAPIConfiguration) async throws

    /// Changes the configuration.
    func update(_ change: UAPIConfiguration) async throws

    /// Returns keys, endpoints, handshakes and counters of all peers.
    ///
    /// It may end an engine that repeatedly does not answer.
    func status() async throws -> UAPIDevice

    /// Waits until the engine has ended, unexpectedly or because of ``stop()``; returns at once before the start.
    func waitUntilEnded() async

    /// Ends the data plane; the interface remains.
    func stop() async
}
