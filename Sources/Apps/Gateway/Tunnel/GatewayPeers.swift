internal import CryptoPrimitives
internal import Identity
internal import Tunnel

/// The peers of the leases with their last endpoints, for an engine that is started again.
///
/// An engine that is started again has no session, and clients begin a handshake only when their own one fails. So it gets
/// the endpoints of clients with a recent handshake and a keepalive, with which it begins handshakes at once. Endpoints are
/// held in memory alone, and removed with their peers.
struct GatewayPeers: Sendable {
    /// The time in seconds after a handshake in which its session is usable (WireGuard's Reject-After-Time).
    ///
    /// A client with a keepalive begins another handshake before.
    static let sessionSeconds: UInt64 = 180

    private var changes: [X25519PublicKey: UAPIConfiguration.PeerChange] = [:]

    /// The configurations of all peers for a new engine, in an order without meaning.
    var all: [UAPIConfiguration.PeerChange] { Array(changes.values) }

    /// Adds, replaces and removes peers; one that is replaced keeps its endpoint.
    mutating func apply(_ updates: [UAPIConfiguration.PeerChange]) {
        for update in updates {
            let former = changes[update.publicKey]
            changes[update.publicKey] = update.isRemoved ? nil : update
            changes[update.publicKey]?.setEndpoint(former?.endpoint)
        }
    }

    /// Records the endpoints of an engine's peers at `now`, in seconds since 1970; returns whether one changed.
    ///
    /// A peer whose last handshake is older than ``sessionSeconds`` loses its endpoint, which may belong to another machine
    /// by now. One without a handshake keeps it, because the engine may have been started a moment ago.
    mutating func record(_ device: UAPIDevice, at now: UInt64) -> Bool {
        var hasChanged = false
        for peer in device.peers {
            guard let former = changes[peer.publicKey], let time = peer.lastHandshake else { continue }
            let end = UInt64(clamping: time.components.seconds).addingReportingOverflow(Self.sessionSeconds)
            let endpoint = now < end.partialValue || end.overflow ? peer.endpoint : nil
            guard endpoint != former.endpoint else { continue }
            changes[peer.publicKey]?.setEndpoint(endpoint)
            hasChanged = true
        }
        return hasChanged
    }
}

extension UAPIConfiguration.PeerChange {
    /// Sets the endpoint, and the client's keepalive if there is one.
    fileprivate mutating func setEndpoint(_ endpoint: SocketAddress?) {
        self.endpoint = endpoint
        persistentKeepaliveSeconds = endpoint.map { _ in GatewayConfiguration.keepaliveSeconds }
    }
}
