package import NIOCore
internal import NIOTLS

/// TLS in a channel, as a server or as a client: decrypts inbound and encrypts outbound bytes.
///
/// After the handshake it fires `TLSUserEvent.handshakeCompleted`. A failed handshake or a damaged record sends its
/// alert, fires ``TLSError`` and closes the channel. A client also bounds the bytes and the time of the handshake, and
/// fires ``TLSError/truncated`` when the server disconnects without close_notify. The state is touched on the channel's
/// event loop only.
package final class TLSHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The most bytes that a client reads before the handshake is complete.
    private static let handshakeByteLimit = 256 * 1024

    private enum State {
        /// Can transition to `handshake` or `closed`.
        case idle
        /// Can transition to `open` or `closed`.
        case handshake
        /// Can transition to `closed`.
        case open
        case closed
    }

    private let session: TLSSession
    /// The time for the handshake of a client; nil without a limit.
    private let patience: TimeAmount?
    private var state: State
    private var alarm: Scheduled<Void>?
    private var handshakeByteCount = 0
    /// Whether the current read of the channel gave the next handler nothing.
    private var hasDelivered = false

    package init(_ session: TLSSession, patience: TimeAmount? = nil) {
        self.session = session
        self.patience = patience
        state = session.isClient ? .idle : .handshake
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

    package func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed else { return }
        let bytes = unwrapInboundIn(data)
        if state != .open, let error = checkHandshake(bytes) { return fail(context, error) }
        guard session.receive(bytes) == .done else { return fail(context, session.error) }
        if state == .handshake { advanceHandshake(context) }
        if state == .open { deliver(context) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if hasDelivered {
            hasDelivered = false
            context.fireChannelReadComplete()
        } else if state != .closed {
            // The reader waits for bytes that only another read can bring.
            context.read()
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        if session.isClient, state != .closed {
            context.fireErrorCaught(state == .open ? TLSError.truncated : TLSError.disconnected)
        }
        state = .closed
        context.fireChannelInactive()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard session.write(unwrapOutboundIn(data)) == .done else {
            promise?.fail(session.error)
            return fail(context, session.error)
        }
        guard let bytes = session.takePending(context.channel.allocator) else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(bytes), promise: promise)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if state == .open, mode != .input {
            session.close()
            flushPending(context)
        }
        if mode != .input { state = .closed }
        context.close(mode: mode, promise: promise)
    }

    /// Begins the handshake of a client; a server waits for the client's first bytes.
    private func start(_ context: ChannelHandlerContext) {
        guard state == .idle else { return }
        state = .handshake
        alarm = patience.map { patience in
            context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [weak self] in
                guard let self, state == .handshake else { return }
                fail(context, .timedOut)
            }
        }
        advanceHandshake(context)
    }

    /// Returns the reason why a client does not parse the bytes.
    private func checkHandshake(_ bytes: ByteBuffer) -> TLSError? {
        guard session.isClient else { return nil }
        // A record of a handshake or an alert (RFC 8446, section 5.1).
        if handshakeByteCount == 0, let first = bytes.readableBytesView.first, first != 0x16, first != 0x15 {
            return .notTLS
        }
        handshakeByteCount += bytes.readableBytes
        return handshakeByteCount > Self.handshakeByteLimit
            ? .handshakeTooLarge(limit: Self.handshakeByteLimit) : nil
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        switch session.handshake() {
        case .failed:
            fail(context, session.error)
        case .waiting, .decrypted:
            flushPending(context)
        case .done:
            state = .open
            alarm?.cancel()
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
                return fail(context, session.error)
            }
        }
    }

    private func flushPending(_ context: ChannelHandlerContext) {
        guard let bytes = session.takePending(context.channel.allocator) else { return }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    private func fail(_ context: ChannelHandlerContext, _ error: TLSError) {
        state = .closed
        alarm?.cancel()
        flushPending(context)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
