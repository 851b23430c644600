internal import Concurrency
internal import NIOCore
internal import NIOHTTP1
internal import NIOTLS
internal import TLSChannel

/// Sends the requests of a connection, one after the other, and collects their responses within bounds.
///
/// It also reports when the connection can be used. The state is touched on the channel's event loop only.
final class ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Exchange
    typealias OutboundOut = HTTPClientRequestPart

    /// The longest head of a response, with the interim responses before it.
    static let headByteLimit = 64 * 1024
    static let headFieldLimit = 256

    /// Fulfilled when the connection is open or has failed.
    private let opening: Promise<Result<any Channel, WebClientError>>
    private let limiter: HeadLimiter
    private var current: Exchange?
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()
    private var isRequestWritten = false

    init(_ opening: Promise<Result<any Channel, WebClientError>>, _ limiter: HeadLimiter) {
        self.opening = opening
        self.limiter = limiter
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { opening.fulfil(.success(context.channel)) }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        (current, head, isRequestWritten) = (exchange, nil, false)
        body.clear()
        limiter.reset()
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [weak self] in
            guard let self, current === exchange else { return }
            isRequestWritten = true
        }
        written.futureResult.cascade(to: promise)
        context.write(wrapOutboundOut(.head(Self.head(of: exchange.request))), promise: nil)
        if !exchange.request.body.isEmpty {
            let body = context.channel.allocator.buffer(bytes: exchange.request.body)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        limiter.reset()
        guard let current else {
            // No request is pending.
            return context.close(promise: nil)
        }
        switch unwrapInboundIn(data) {
        case .head(let head): receive(head, of: current, context)
        case .body(let part):
            guard body.readableBytes + part.readableBytes <= current.bodyLimit else {
                return fail(.tooLarge(limit: current.bodyLimit), context)
            }
            body.writeImmutableBuffer(part)
        case .end: finish(current)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(Self.failure(error), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed, context)
        context.fireChannelInactive()
    }

    private func receive(_ head: HTTPResponseHead, of exchange: Exchange, _ context: ChannelHandlerContext) {
        guard head.version.major == 1, head.status.code >= 200 else {
            return fail(.protocolViolation(reason: "\(head.version) \(head.status.code)"), context)
        }
        let length = head.headers["Content-Length"].first.flatMap { Int($0) } ?? 0
        guard length <= exchange.bodyLimit || exchange.request.method == "HEAD" else {
            return fail(.tooLarge(limit: exchange.bodyLimit), context)
        }
        self.head = head
    }

    private func finish(_ exchange: Exchange) {
        guard let head else { return }
        let response = WebResponse(
            status: Int(head.status.code),
            fields: head.headers.map { WebField($0.name, $0.value) },
            body: Array(body.readableBytesView)
        )
        current = nil
        body.clear()
        // A server that answers early may not have read the whole request.
        exchange.outcome.fulfil(.response(response, isReusable: head.isKeepAlive && isRequestWritten))
    }

    private func fail(_ error: WebClientError, _ context: ChannelHandlerContext) {
        opening.fulfil(.failure(error))
        if let current {
            self.current = nil
            current.outcome.fulfil(.failure(error, hasBegun: head != nil || limiter.hasReceived))
        }
        context.close(promise: nil)
    }

    private static func head(of request: WebRequest) -> HTTPRequestHead {
        var head = HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: request.method),
            uri: request.url.target
        )
        head.headers.add(name: "Host", value: request.url.authority)
        for field in request.fields { head.headers.add(name: field.name, value: field.value) }
        if request.hasLength { head.headers.add(name: "Content-Length", value: "\(request.body.count)") }
        return head
    }

    private static func failure(_ error: any Error) -> WebClientError {
        switch error {
        case let error as WebClientError: error
        // The server disconnected, as far as a request is concerned.
        case TLSError.truncated: .closed
        case TLSError.timedOut: .timedOut(.handshake)
        case let error as TLSError: .tls(error)
        case HTTPParserError.invalidEOFState, is IOError, is ChannelError: .closed
        case HTTPParserError.headerOverflow: .tooLarge(limit: headByteLimit)
        default: .protocolViolation(reason: "\(error)")
        }
    }
}

/// Bounds the bytes of which the decoder has not made a part of the response: heads, extensions of chunks, trailers.
///
/// The state is touched on the channel's event loop only.
final class HeadLimiter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var byteCount = 0

    /// Whether bytes arrived since the last part.
    var hasReceived: Bool { byteCount > 0 }

    /// Begins another part.
    func reset() { byteCount = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        byteCount += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        guard byteCount > ExchangeHandler.headByteLimit else { return }
        byteCount = 0
        context.fireErrorCaught(WebClientError.tooLarge(limit: ExchangeHandler.headByteLimit))
    }
}
