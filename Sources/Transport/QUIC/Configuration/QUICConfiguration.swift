package import Bytes
package import Identity

/// The settings that an endpoint needs before it opens its port.
package struct QUICConfiguration: Sendable {
    /// The key with which the endpoint authenticates.
    package var identity: Ed25519PrivateKey
    /// The addresses to listen on: at most one IPv4 and one IPv6 address.
    ///
    /// With port 0 both get the same free port if possible.
    package var addresses: [SocketAddress]
    /// The bounds on resources.
    package var limits = QUICLimits()
    /// The timeouts and intervals.
    package var timers = QUICTimers()
    /// The algorithm that decides how fast to send.
    package var congestionControl = CongestionControl.cubic
    /// 32 bytes from which stateless resets and Retry tokens are derived.
    ///
    /// Keep them across restarts: without the previous ones, peers of the previous process receive no stateless reset. If
    /// nil, they are drawn at random.
    package var resetSecret: SecretBytes?
    /// The parts that only tests replace.
    var seams = Seams()

    /// Begins with the defaults: any address of both families, a free port.
    package init(
        identity: Ed25519PrivateKey,
        addresses: [SocketAddress] = QUICConfiguration.anyAddresses,
        resetSecret: SecretBytes? = nil
    ) {
        self.identity = identity
        self.addresses = addresses
        self.resetSecret = resetSecret
    }

    /// `0.0.0.0:0` and `[::]:0`.
    package static var anyAddresses: [SocketAddress] {
        [4, 16].compactMap { SocketAddress(bytes: [UInt8](repeating: 0, count: $0), port: 0) }
    }
}

/// The algorithm that decides how fast to send.
package enum CongestionControl: Sendable, Hashable {
    /// RFC 9438: fair to other flows, slow on links that lose packets at random.
    case cubic
    /// Keeps its pace under random loss; with ngtcp2 0.12 it sends more than it should.
    case bbr
}

/// The timeouts and intervals of an endpoint.
package struct QUICTimers: Sendable, Hashable {
    /// The silence of our own after which a connection sends a ping, so that NATs keep the path open.
    package var keepAlive = Duration.seconds(24)
    /// The silence of the peer after which a connection times out.
    package var idle = Duration.seconds(30)
    /// The longest duration of a handshake, from its first packet to its last.
    package var handshake = Duration.seconds(5)

    /// The defaults.
    package init() {}
}

/// The bounds on the resources that a peer can make an endpoint allocate.
package struct QUICLimits: Sendable, Hashable {
    /// Unread bytes of one stream.
    package var streamWindow = 2 << 20
    /// Unread bytes of all streams of one connection.
    package var connectionWindow = 8 << 20
    /// The concurrent streams of a peer: as many requests as a node serves concurrently, and some for other purposes.
    package var concurrentStreams = 1280
    /// The credit of a peer until ``Connection/extendLimits()``; nil grants all of the above at once.
    package var unadmitted: UnadmittedLimits?
    /// Bytes of one stream that wait to be acknowledged before `write` suspends.
    package var sendHighWater = 2 << 20
    /// The queued bytes below which `write` resumes.
    package var sendLowWater = 1 << 20
    /// Bytes of all streams of one connection that wait to be acknowledged before `write` suspends: as many as a peer with
    /// our windows lets be under way, since more would not be faster.
    package var sendBudget = 8 << 20
    /// Connections of all kinds.
    package var connections = 16_384
    /// Inbound connections whose handshake is not complete, about 90 KB each.
    package var halfOpen = 256
    /// The number of half-open connections above which a client must prove its address by a Retry.
    package var retryThreshold = 32
    /// Concurrent incomplete handshakes of the devices of one household; a quarter is reserved for addresses that started
    /// none recently.
    package var handshakesPerBlock = 256
    /// The number of them that they get back each second, with a proved address and once more without: each of 256
    /// connections without an admission still has half a second for its hello.
    package var handshakesPerBlockPerSecond = 256
    /// Connections that wait for `accept`.
    package var pendingAccepts = 256
    /// Concurrent incomplete handshakes of one source.
    package var handshakesPerSource = 64
    /// The number of them that are returned to it each second.
    package var handshakesPerSourcePerSecond = 16
    /// Datagrams that are not QUIC and wait for their reader.
    package var foreignDatagrams = 256
    /// The longest of them.
    package var foreignDatagramBytes = 2048

    /// The defaults.
    package init() {}
}

/// The credit of a peer that only TLS has authenticated (RFC 9000, section 4).
///
/// ngtcp2 stores out-of-order bytes in blocks of 8 KiB, so a peer fills the whole window of a connection with few packets,
/// and each stream costs a task. Windows advance as data is read: an exchange of any length works.
package struct UnadmittedLimits: Sendable, Hashable {
    /// Unread bytes of one stream that the peer opens: two frames of admission.
    package var streamWindow = 32 << 10
    /// Unread bytes of all streams of one connection.
    package var connectionWindow = 64 << 10
    /// Streams that the peer may open in total, closed ones included: the control stream, and one that arrives early.
    package var streams = 2

    /// The defaults.
    package init() {}
}
