internal import Libc
internal import NIOCore

/// Pauses a listening channel that has no descriptor or memory for another connection.
///
/// The channel would try again at once without end, because the connection that waits keeps it readable. The state is
/// touched on the channel's event loop only.
final class AcceptPauseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// Long enough that trying costs nothing, and short for a client that waits.
    static let pause = TimeAmount.seconds(1)
    /// The shortages that end when another connection or file is closed.
    private static let shortages: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let pause: TimeAmount
    private var alarm: Scheduled<Void>?

    init(pause: TimeAmount = AcceptPauseHandler.pause) {
        self.pause = pause
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, Self.shortages.contains(error.errnoCode), alarm == nil {
            Self.setReading(false, context.channel)
            let channel = context.channel
            alarm = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
                self.alarm = nil
                Self.setReading(true, channel)
            }
        }
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

    private static func setReading(_ isReading: Bool, _ channel: any Channel) {
        try? channel.syncOptions?.setOption(.autoRead, value: isReading)  // it is closed
    }
}
