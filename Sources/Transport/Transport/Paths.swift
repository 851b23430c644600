public import Identity

// Where packets go, for transports over UDP: through a relay, from further ports, by another way. A transport without paths
// keeps the defaults below, which do nothing.

/// An event on the path of a connection's packets.
public enum PathEvent: Sendable, Hashable {
    /// Packets go to this address now, and the peer answers from there.
    case moved(SocketAddress)
    /// The sent packets stay unanswered over several probe timeouts.
    case suspect
    /// The peer is heard again after that.
    case answered
    /// A path that was to replace the present one does not work.
    case refused(SocketAddress)
}

extension Connection {
    /// No way ever changes.
    public var pathEvents: AsyncStream<PathEvent> { AsyncStream { $0.finish() } }

    /// Does nothing.
    public func probe() {}

    /// Does nothing.
    public func migrate(to address: SocketAddress, from port: UInt16?) {}
}

extension Endpoint {
    /// Dials from the one port that there is.
    public func connect(
        to address: SocketAddress,
        expecting peer: PeerId,
        from port: UInt16?
    ) async throws -> any Connection {
        try await connect(to: address, expecting: peer)
    }

    /// Does nothing.
    public func openChannel(_ channel: ChannelId, over relay: any Connection) {}

    /// Does nothing.
    public func closeChannel(_ channel: ChannelId) {}

    /// Does nothing.
    public func relay(_ first: RelayEnd, _ second: RelayEnd, bytesPerSecond: Int) {}

    /// Does nothing.
    public func stopRelaying(_ channel: ChannelId) {}

    /// Opens none.
    public func openPorts(count: Int) async -> [UInt16] { [] }

    /// Does nothing.
    public func closePorts(_ ports: [UInt16]) {}

    /// Sends from the one port that there is.
    public func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress, from port: UInt16?) {
        sendForeignDatagram(bytes, to: address)
    }
}

/// One side of what a relay forwards: the channel, and the connection over which its peer was told of it.
public struct RelayEnd: Sendable {
    /// The number that its datagrams come with.
    public let channel: ChannelId
    /// The way to its peer.
    public let connection: any Connection

    /// Puts a channel and its connection together.
    public init(channel: ChannelId, connection: any Connection) {
        self.channel = channel
        self.connection = connection
    }
}
