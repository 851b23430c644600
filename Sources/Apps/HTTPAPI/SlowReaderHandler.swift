internal import NIOCore

/// Disconnects a client that sends a request and then does not read the answer.
///
/// The state is touched on the channel's event loop only.
final class SlowReaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let patience: TimeAmount
    private var alarm: Scheduled<Void>?

    init(patience: TimeAmount) {
        self.patience = patience
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        if !context.channel.isWritable {
            let channel = context.channel
            alarm = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }
}
