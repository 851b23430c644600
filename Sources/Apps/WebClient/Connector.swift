internal import Concurrency
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Platform
internal import TLSChannel

/// Makes connections to web servers: addresses of the name system in turn (RFC 8305), TLS, and HTTP within bounds.
struct Connector: Sendable {
    let loop: any EventLoop
    let trust: TLSTrust
    let pins: [KeyPin]
    /// The time for the connection and the TLS handshake together.
    let limit: TimeAmount

    typealias Opening = Promise<Result<any Channel, WebClientError>>

    /// Connects, and returns the channel after the TLS handshake.
    func connect(to url: WebURL, until deadline: NIODeadline) async throws(WebClientError) -> any Channel {
        let opening = Opening()
        let (connected, phase) = (Locked<(any Channel)?>(nil), Locked(WebClientError.Phase.connecting))
        let deadline = min(deadline, .now() + limit)
        let alarm = loop.scheduleTask(deadline: deadline) {
            _ = opening.fulfil(.failure(.timedOut(phase.withLock { $0 })))
        }
        defer { alarm.cancel() }
        attempt(url, until: deadline).whenComplete { result in
            switch result {
            case .failure(let error):
                opening.fulfil(.failure(Self.failure(error, url)))
            case .success(let channel):
                connected.withLock { $0 = channel }
                phase.withLock { $0 = .handshake }
                guard opening.value == nil else { return channel.close(promise: nil) }
                do {
                    try addHandlers(channel, url, opening)
                } catch {
                    opening.fulfil(.failure((error as? TLSError).map { .tls($0) } ?? .closed))
                }
            }
        }
        let result: Result<any Channel, WebClientError>
        do {
            result = try await opening.wait()
        } catch {
            opening.fulfil(.failure(.cancelled))
            result = .failure(.cancelled)
        }
        if case .failure = result { connected.withLock { $0 }?.close(promise: nil) }
        return try result.get()
    }

    /// Connects to the first address that accepts; nothing is read before the handlers are complete.
    private func attempt(_ url: WebURL, until deadline: NIODeadline) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(max(deadline - .now(), .milliseconds(1)))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        switch url.host {
        case .name(let name): return bootstrap.connect(host: name, port: Int(url.port))
        case .address(let address):
            do {
                return bootstrap.connect(to: try SocketAddress(ipAddress: "\(address)", port: Int(url.port)))
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
    }

    private func addHandlers(_ channel: any Channel, _ url: WebURL, _ opening: Opening) throws {
        if url.scheme == .https {
            let session = try TLSSession(client: trust, name: url.peerName, pins: pins)
            try channel.pipeline.syncOperations.addHandler(TLSHandler(session, patience: limit))
        }
        try Self.addHTTP(channel, opening)
        if url.scheme == .http { opening.fulfil(.success(channel)) }
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    /// Adds the handlers of HTTP, with their bounds.
    static func addHTTP(_ channel: any Channel, _ opening: Opening) throws {
        let pipeline = channel.pipeline.syncOperations
        let limiter = HeadLimiter()
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = ExchangeHandler.headByteLimit
        limits.maxHeaderListSize = ExchangeHandler.headByteLimit
        limits.maxHeaderFieldCount = ExchangeHandler.headFieldLimit
        try pipeline.addHandler(limiter)
        try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: limits)
        try pipeline.addHandler(ExchangeHandler(opening, limiter))
    }

    private static func failure(_ error: any Error, _ url: WebURL) -> WebClientError {
        switch error {
        case let error as NIOConnectionError:
            guard let last = error.connectionErrors.last else { return .notFound(host: "\(url.host)") }
            return failure(last.error, url)
        case ChannelError.connectTimeout: return .timedOut(.connecting)
        case let error as IOError:
            return .unreachable(host: url.authority, reason: SystemErrors.text(of: error.errnoCode))
        default: return .unreachable(host: url.authority, reason: "\(error)")
        }
    }
}

extension WebURL {
    /// The name that the certificate of the server must have.
    fileprivate var peerName: TLSSession.PeerName {
        switch host {
        case .name(let name): .host(name)
        case .address(let address): .address(address)
        }
    }
}
