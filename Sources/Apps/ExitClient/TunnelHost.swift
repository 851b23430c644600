/// The tunnel of a client: an interface with its addresses and routes, and an engine.
package protocol TunnelHost: Sendable {
    /// Makes the interface in place of a former one, and starts an engine with a configuration.
    ///
    /// - Throws: ``VPNFailure/tunnel(reason:)``; nothing remains of the interface then.
    func start(_ configuration: VPNConfiguration) async throws(VPNFailure)

    /// Replaces the configuration, while packets flow.
    ///
    /// - Throws: ``VPNFailure/tunnel(reason:)``; nothing remains of the interface then.
    func update(_ configuration: VPNConfiguration) async throws(VPNFailure)

    /// Ends the engine, and removes the interface, its addresses and its routes.
    func stop() async

    /// Returns the state of the tunnel; nil without one.
    func status() async -> TunnelReading?
}

/// The counters of a tunnel.
package struct TunnelReading: Hashable, Sendable {
    /// The time of the last handshake in seconds since 1970; nil before the first.
    package var lastHandshake: UInt64?
    /// The bytes of packets that were received.
    package var bytesIn: UInt64
    /// The bytes of packets that were sent.
    package var bytesOut: UInt64

    package init(lastHandshake: UInt64?, bytesIn: UInt64, bytesOut: UInt64) {
        self.lastHandshake = lastHandshake
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
    }
}
