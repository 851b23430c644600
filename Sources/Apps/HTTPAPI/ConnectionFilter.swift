internal import Identity
internal import NIOCore
internal import NIOTLS

/// Closes connections from addresses that are not admitted, and those whose TLS handshake does not finish in time.
///
/// It precedes TLS in the pipeline, so that bytes of others are never parsed, and closes without `close_notify`. The
/// state is used on the channel's event loop only.
final class ConnectionFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// The time for the handshake; nil without TLS.
    private let handshakePatience: TimeAmount?
    /// Nil if all addresses are admitted.
    private let admits: (@Sendable (IPAddress) -> Bool)?
    private var alarm: Scheduled<Void>?

    init(handshakePatience: TimeAmount?, admits: (@Sendable (IPAddress) -> Bool)?) {
        self.handshakePatience = handshakePatience
        self.admits = admits
    }

    func channelActive(context: ChannelHandlerContext) {
        if let admits {
            guard let peer = context.channel.remoteAddress?.plain, admits(peer.ip) else {
                return context.close(promise: nil)
            }
        }
        alarm = handshakePatience.map { patience in
            context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

    /// Stops the timer of the handshake.
    fileprivate func open() { alarm?.cancel() }

    /// Notifies the filter of a connection, from behind TLS, that the handshake is complete.
    final class HandshakeNotifier: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent {
                let pipeline = context.pipeline.syncOperations
                let filter = try? pipeline.handler(type: ConnectionFilter.self)  // nil: the connection is closed
                filter?.open()
            }
            context.fireUserInboundEventTriggered(event)
        }
    }
}

extension NIOCore.SocketAddress {
    /// The address as ours, without the scope of an interface; nil for other address families.
    var plain: Identity.SocketAddress? {
        guard let port, let ip = ipAddress.flatMap({ IPAddress($0) }) else { return nil }
        return Identity.SocketAddress(ip.withoutScope, port: UInt16(clamping: port))
    }
}
