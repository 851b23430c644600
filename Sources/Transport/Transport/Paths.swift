public import Identity

// The paths of packets, for transports over UDP: relays, further ports and migration. A transport without paths keeps the
// defaults below, which do nothing.

/// An event on the path of a connection's packets.
public enum PathEvent: Sendable, Hashable {
    /// The connection migrated to this address, from which the peer answers.
    case moved(SocketAddress)
    /// The sent packets stay unanswered over several probe timeouts.
    case suspect
    /// The peer answered after a suspicion.
    case answered
    /// The migration to this address failed.
    case refused(SocketAddress)
}

extension Connection {
    /// An empty stream: the path never changes.
    public var pathEvents: AsyncStream<PathEvent> { AsyncStream { $0.finish() } }

    /// Does nothing.
    public func probe() {}

    /// Does nothing.
    public func migrate(to address: SocketAddress, from port: UInt16?) {}
}

extension Endpoint {
    /// Dials from the endpoint's own port.
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

/// One side of a relay: the channel, and the connection to the peer for which it was opened.
public struct RelayEnd: Sendable {
    /// The number in the header of its datagrams.
    public let channel: ChannelId
    /// The connection to its peer.
    public let connection: any Connection

    /// Puts a channel and its connection together.
    public init(channel: ChannelId, connection: any Connection) {
        self.channel = channel
        self.connection = connection
    }
}
