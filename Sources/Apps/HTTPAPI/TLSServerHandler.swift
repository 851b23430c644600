internal import NIOCore
internal import NIOTLS

/// The TLS 1.3 server side of a channel: decrypts inbound and encrypts outbound bytes.
///
/// After the handshake it fires `TLSUserEvent.handshakeCompleted`. A failed handshake or a damaged record sends its
/// alert, fires ``TLSServerError`` and closes the channel. The state is touched on the channel's event loop only.
final class TLSServerHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Can transition to `open` or `closed`.
        case handshake
        /// Can transition to `closed`.
        case open
        case closed
    }

    private let session: TLSServerSession
    private var state = State.handshake
    /// Whether the current read of the channel gave the next handler nothing.
    private var hasDelivered = false

    init(_ session: TLSServerSession) {
        self.session = session
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed else { return }
        guard session.receive(unwrapInboundIn(data)) == .done else { return fail(context) }
        if state == .handshake { advanceHandshake(context) }
        if state == .open { deliver(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasDelivered {
            hasDelivered = false
            context.fireChannelReadComplete()
        } else if state != .closed {
            // The reader waits for bytes that only another read can bring.
            context.read()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .closed
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard session.write(unwrapOutboundIn(data)) == .done else {
            promise?.fail(session.error)
            return fail(context)
        }
        guard let bytes = session.takePending(context.channel.allocator) else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(bytes), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if state == .open, mode != .input {
            state = .closed
            session.close()
            flushPending(context)
        }
        context.close(mode: mode, promise: promise)
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        switch session.handshake() {
        case .failed:
            fail(context)
        case .waiting, .decrypted:
            flushPending(context)
        case .done:
            state = .open
            flushPending(context)
            context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        }
    }

    /// Passes on everything that can be decrypted.
    private func deliver(_ context: ChannelHandlerContext) {
        while state == .open {
            var plain = context.channel.allocator.buffer(capacity: 0)
            switch session.read(into: &plain) {
            case .decrypted:
                hasDelivered = true
                context.fireChannelRead(wrapInboundOut(plain))
            case .waiting:
                // A key update is answered.
                return flushPending(context)
            case .done:
                return close(context: context, mode: .all, promise: nil)
            case .failed:
                return fail(context)
            }
        }
    }

    private func flushPending(_ context: ChannelHandlerContext) {
        guard let bytes = session.takePending(context.channel.allocator) else { return }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    private func fail(_ context: ChannelHandlerContext) {
        state = .closed
        flushPending(context)
        context.fireErrorCaught(session.error)
        context.close(promise: nil)
    }
}
