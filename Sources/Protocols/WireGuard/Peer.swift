internal import Bytes
internal import CryptoPrimitives
internal import Identity

/// The times at which one peer needs attention; nil where a timer does not run (the paper, section 6).
struct PeerTimers: Sendable {
    /// An initiation is repeated.
    var retransmit: Duration?
    /// Received data is acknowledged by an empty packet.
    var keepalive: Duration?
    /// A handshake begins because data that was sent has had no answer.
    var silence: Duration?
    /// An empty packet keeps the mappings of middleboxes.
    var persistent: Duration?
    /// The oldest session expires.
    var expiry: Duration?

    /// The earliest of them.
    var first: Duration? {
        [retransmit, keepalive, silence, persistent, expiry].reduce(nil) { first, time in
            guard let first, let time else { return first ?? time }
            return min(first, time)
        }
    }
}

/// One peer of an interface.
struct Peer: Sendable {
    let publicKey: X25519PublicKey
    var presharedKey = PresharedKey.zero
    var endpoint: SocketAddress?
    /// Nil without persistent keepalive.
    var keepaliveInterval: Duration?

    /// The secret of the two static keys, agreed at the first handshake.
    var staticSecret: SecretBytes?
    /// The handshake that the local side began and the peer has not answered.
    var handshake: InitiatorHandshake?
    var cookie: PeerCookie?
    /// The initiations since the last packet that needed a session: at 18 they end.
    var attempts = 0
    /// The initiations since the last session.
    var unanswered = 0
    var lastInitiationSent: Duration?
    var lastInitiationReceived: Duration?
    var sentTimestamp = Timestamp.none
    var receivedTimestamp = Timestamp.none

    var sessions = PeerSessions()
    var timers = PeerTimers()
    /// Whether data arrived since the keepalive timer was started.
    var needsAnotherKeepalive = false
    /// Whether a handshake began because the current session is about to expire: once a session.
    var didRenewAfterReceiving = false

    var receivedBytes: UInt64 = 0
    var sentBytes: UInt64 = 0
    /// The wall time of the last handshake.
    var lastHandshake: Duration?

    init(_ publicKey: X25519PublicKey) {
        self.publicKey = publicKey
    }
}
