public import Identity

/// One local UDP port (or its in-memory stand-in) that dials and accepts connections of one peer key.
///
/// Every connection is authenticated in both directions before it is handed out: `Connection.remotePeerId` is the
/// SHA-256 of the Ed25519 key with which the other side proved itself in TLS, never a claim. An endpoint knows nothing
/// of networks and tokens; admission happens above it.
public protocol Endpoint: AnyObject, Sendable {
    /// The identity that this endpoint proves to others.
    var localPeerId: PeerId { get }

    /// The bound addresses, with the port numbers that the system chose.
    var localAddresses: [SocketAddress] { get }

    /// Dials `address` and returns once the peer has accepted the handshake.
    ///
    /// This is later than the completion on this side (RFC 9001, section 4.1.2, "handshake confirmed").
    ///
    /// - Throws: ``TransportError``; `wrongPeer` if another key answers; `CancellationError` when cancelled.
    func connect(to address: SocketAddress, expecting peer: PeerId) async throws -> any Connection

    /// Dials from a port of ``openPorts(count:)``, or from the endpoint's own when it is nil.
    func connect(to address: SocketAddress, expecting peer: PeerId, from port: UInt16?) async throws -> any Connection

    /// Returns the next connection that a peer opened and proved itself on, or nil once the endpoint is closed.
    func accept() async throws -> (any Connection)?

    /// Datagrams on the same socket that are not QUIC (STUN, probes), bounded; surplus ones are dropped.
    var foreignDatagrams: AsyncStream<ForeignDatagram> { get }

    /// Sends one datagram that is not QUIC from the endpoint's own socket. Errors of the network are dropped like loss.
    func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress)

    /// Sends one from a port of ``openPorts(count:)``, or from the endpoint's own when it is nil.
    func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress, from port: UInt16?)

    /// Accepts clients at these addresses, previously used by members, however many other clients dial.
    ///
    /// The latest addresses come first; a transport takes as many as it has room for.
    func expectMembers(at addresses: [IPAddress])

    /// Opens further IPv4 ports in addition to the endpoint's own; fewer if the system has no more.
    ///
    /// Their datagrams that are not QUIC are among ``foreignDatagrams``.
    func openPorts(count: Int) async -> [UInt16]

    /// Closes ports of ``openPorts(count:)``; those that a connection uses stay until it ends.
    func closePorts(_ ports: [UInt16])

    /// Routes the channel's address over the connection to a relay from now on.
    func openChannel(_ channel: ChannelId, over relay: any Connection)

    /// Removes the route of the channel's address.
    func closeChannel(_ channel: ChannelId)

    /// Forwards datagrams of either channel from its own connection's address to the other connection's, at most
    /// `bytesPerSecond` in both directions together, until one of the connections ends.
    func relay(_ first: RelayEnd, _ second: RelayEnd, bytesPerSecond: Int)

    /// Stops forwarding from this channel and to it.
    func stopRelaying(_ channel: ChannelId)

    /// Notifies the endpoint of changed addresses of this machine, so that connections validate their paths at once.
    func networkChanged()

    /// Closes every connection with `code`, lets them drain, and frees the port.
    func close(code: UInt64) async
}

extension Endpoint {
    /// Does nothing: a transport without admission limits.
    public func expectMembers(at addresses: [IPAddress]) {}
}

/// A datagram that was not QUIC.
public struct ForeignDatagram: Sendable, Hashable {
    /// The payload.
    public let bytes: [UInt8]
    /// The source address (spoofable).
    public let source: SocketAddress
    /// The port of ``Endpoint/openPorts(count:)`` at which it arrived; nil for the endpoint's own.
    public let port: UInt16?

    /// Creates one.
    public init(bytes: [UInt8], source: SocketAddress, port: UInt16? = nil) {
        self.bytes = bytes
        self.source = source
        self.port = port
    }
}

/// A mutually authenticated connection that carries ordered byte streams.
///
/// It closes with code 0 when the last reference to it and to its streams is dropped.
public protocol Connection: AnyObject, Sendable {
    /// The peer on the other side, proved by TLS.
    var remotePeerId: PeerId { get }

    /// The address to which packets are sent now; changes when the peer migrates.
    var remoteAddress: SocketAddress { get }

    /// The smoothed round-trip time; nil before it was measured.
    var roundTrip: Duration? { get }

    /// Whether this side dialled.
    var isDialler: Bool { get }

    /// The events on the path of the packets, for one reader.
    var pathEvents: AsyncStream<PathEvent> { get }

    /// Sends a packet that the peer acknowledges, so that ``pathEvents`` soon report an unresponsive peer.
    func probe()

    /// Sends to another address of the peer from now on, once it has answered from there (RFC 9000, section 9); only for
    /// the side that dialled. `port` is one of ``Endpoint/openPorts(count:)``.
    func migrate(to address: SocketAddress, from port: UInt16?)

    /// Grants the peer all of this endpoint's windows and streams, now that it is admitted.
    ///
    /// Until then a transport may keep a peer that only TLS has authenticated to small ones.
    func extendLimits()

    /// Derives bytes from the handshake that only the two sides can know (RFC 8446, section 7.5, with an empty
    /// context).
    ///
    /// - Throws: ``TransportError/closed(code:reason:)`` once the connection has ended.
    func exportKeyingMaterial(label: String, byteCount: Int) throws -> [UInt8]

    /// Opens a bidirectional stream without waiting; the peer learns of it with the first byte.
    ///
    /// - Throws: ``TransportError/closed(code:reason:)`` once the connection has ended.
    func openStream() throws -> any Stream

    /// Returns the next stream that the peer opened, or nil once the connection is closed.
    func acceptStream() async throws -> (any Stream)?

    /// Closes the connection with an application error code and a reason of at most 256 bytes of UTF-8.
    func close(code: UInt64, reason: String)

    /// Suspends until the connection has ended, and returns the reason.
    ///
    /// A task that is cancelled while it waits gets ``TransportError/misuse(_:)`` at once, and the connection lives on.
    func closed() async -> TransportError
}

extension Connection {
    /// Does nothing: a transport with equal limits for all peers.
    public func extendLimits() {}
}

/// Ordered bytes in both directions with back-pressure both ways.
///
/// One reader and one writer at a time; a second one is refused with ``TransportError/misuse(_:)``. Dropping the last
/// reference resets the directions that are not complete, as ``reset(code:)`` with 0 does, and so returns the credit of
/// unread bytes; a finished direction is still delivered.
public protocol Stream: AnyObject, Sendable {
    /// Returns the next bytes, at most `maximum` of them, waiting for at least one unless the stream ends.
    ///
    /// Bytes that arrived before the connection ended are still returned. `isFinal` is set with the last bytes, so the end
    /// needs no second call; after it every call returns `([], true)`.
    ///
    /// - Throws: ``TransportError/reset(code:)`` if the peer reset the stream, `closed` if the connection ended,
    ///   `CancellationError` if cancelled (no byte is lost: the next call returns it).
    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool)

    /// Queues `bytes`, suspending while more than the high-water mark is queued; `finish` ends this direction.
    ///
    /// - Throws: ``TransportError/stopped(code:)`` if the peer stopped reading, `closed` if the connection ended,
    ///   `CancellationError` if cancelled before `bytes` were queued (then none of them is).
    func write(_ bytes: [UInt8], finish: Bool) async throws

    /// Returns when closing the connection would lose none of the bytes written to a stream that the peer accepted.
    ///
    /// The peer has them then, or receives them before the connection's end. The end of the stream is not awaited. Over
    /// QUIC this counts as a writer.
    ///
    /// - Throws: as ``write(_:finish:)``, over QUIC; in memory nothing.
    func delivered() async throws

    /// Calls `handler` once when further writes cannot arrive: the peer stopped reading, the connection ended, or this side
    /// reset the stream.
    ///
    /// It is called immediately if this is the case already; nil removes an earlier handler. A task that works for the
    /// peer without reading or writing can stop then. Once this direction is finished the handler may not be called. It
    /// runs on the thread that detects the end, and must neither block nor use the stream.
    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?)

    /// Resets both directions at once: RESET_STREAM and STOP_SENDING with `code` (RFC 9000, sections 19.4 and 19.5).
    func reset(code: UInt64)
}
