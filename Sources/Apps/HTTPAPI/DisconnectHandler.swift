internal import NIOCore

/// Detects that the client has disconnected, which a long answer would notice only at its next write.
///
/// A client that closes its half of the connection counts as disconnected: one that still reads keeps it open. The state is
/// used on the channel's event loop only.
final class DisconnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var promise: EventLoopPromise<Void>?
    private var isGone = false

    /// Calls `body` when the client disconnects, at once if it has.
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
