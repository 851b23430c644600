internal import HummingbirdCore
internal import Identity
internal import Logging
internal import NIOCore
internal import NIOTLS

/// The connection filter of the network server: closes connections from outside the local network and those whose
/// TLS handshake does not finish in time.
///
/// It precedes TLS in the pipeline, so that bytes from outside are never parsed, and closes without `close_notify`. The
/// state is used on the channel's event loop only.
final class ConnectionFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let patience: TimeAmount
    private let isNear: @Sendable (IPAddress) -> Bool
    private var alarm: Scheduled<Void>?

    init(patience: TimeAmount, isNear: @escaping @Sendable (IPAddress) -> Bool) {
        self.patience = patience
        self.isNear = isNear
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let peer = context.channel.remoteAddress?.plain, isNear(peer.ip) else {
            return context.close(promise: nil)
        }
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
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

/// A channel with a connection filter in front of everything else.
struct FilteredChannel<Inner: ServerChildChannel>: ServerChildChannel {
    let inner: Inner
    let makeFilter: @Sendable () -> ConnectionFilter

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Inner.Value> {
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(makeFilter()) }
            .flatMap { inner.setup(channel: channel, logger: logger) }
    }

    func handle(value: Inner.Value, logger: Logger) async { await inner.handle(value: value, logger: logger) }
}

extension NIOCore.SocketAddress {
    /// The address as ours, without the scope of an interface; nil for other address families.
    var plain: Identity.SocketAddress? {
        guard let port, let ip = ipAddress.flatMap({ IPAddress($0) }) else { return nil }
        return Identity.SocketAddress(ip.withoutScope, port: UInt16(clamping: port))
    }
}
