internal import NIOCore

/// Tells when the client has gone, which an answer that lasts would find out only when it writes again.
///
/// A client that ends its half of the connection is gone: one that still reads keeps it open. The state is touched on
/// the channel's event loop only.
final class DisconnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var promise: EventLoopPromise<Void>?
    private var isGone = false

    /// Calls `body` when the client goes, at once if it is gone.
    static func whenGone(from channel: any Channel, _ body: @escaping @Sendable () -> Void) {
        let disconnection = channel.eventLoop.flatSubmit {
            do {
                return try channel.pipeline.syncOperations.handler(type: DisconnectHandler.self).disconnection(
                    on: channel
                )
            } catch {
                // The pipeline of a closed channel is empty.
                return channel.closeFuture
            }
        }
        disconnection.whenComplete { _ in body() }
    }

    private func disconnection(on channel: any Channel) -> EventLoopFuture<Void> {
        if isGone { return channel.eventLoop.makeSucceededVoidFuture() }
        let promise = promise ?? channel.eventLoop.makePromise()
        self.promise = promise
        return promise.futureResult
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent { leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func leave() {
        isGone = true
        promise?.succeed()
        promise = nil
    }
}
