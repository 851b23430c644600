internal import Concurrency
internal import NIOCore
internal import NIOPosix
package import TLSChannel

/// An HTTP/1.1 client (RFC 9112) with bounds for everything that a server sends or delays.
///
/// A certificate chain is verified up to a trusted authority, with the name of the host and with pins, before a byte of
/// a request is sent. Plain HTTP is for this machine alone. Redirects are returned, not followed; cookies and proxies are
/// not supported, and no environment variable changes the path of a request.
package struct WebClient: Sendable {
    /// The configuration of a client.
    package struct Configuration: Sendable {
        /// The authorities that issue the certificates of servers.
        package var trust = TLSTrust.Source.system
        /// The keys of which the chain of every server must have one; any chain for none.
        package var pins: [KeyPin] = []
        /// The time for a connection and its TLS handshake.
        package var connectionLimit = Duration.seconds(10)
        /// The time for a whole request, the connection included.
        package var requestLimit = Duration.seconds(30)
        /// The most bytes of the body of a request, and of that of a response.
        package var bodyByteLimit = 1 << 20
        /// The number of requests at the same time; further ones wait.
        package var requestCount = 16
        /// The number of idle connections that are kept, of all origins together.
        package var idleCount = 8
        /// The time that a connection stays idle.
        package var idleLimit = Duration.seconds(30)

        package init() {}
    }

    /// The event loop of all clients in the process, whose thread begins with the first one.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let configuration: Configuration
    private let loop: any EventLoop
    private let connector: Connector
    private let pool: ConnectionPool

    /// Makes a client without a connection.
    ///
    /// - Throws: ``WebClientError/tls(_:)`` if the trusted authorities cannot be read.
    package init(_ configuration: Configuration) throws(WebClientError) {
        self.configuration = configuration
        loop = Self.group.any()
        do {
            connector = Connector(
                loop: loop,
                trust: try TLSTrust(configuration.trust),
                pins: configuration.pins,
                limit: TimeAmount(configuration.connectionLimit)
            )
        } catch {
            throw .tls(error)
        }
        pool = ConnectionPool(
            loop: loop,
            requestLimit: configuration.requestCount,
            idleLimit: configuration.idleCount,
            idleTime: TimeAmount(configuration.idleLimit)
        )
    }

    /// Sends a request and returns the whole response, of any status; a cancellation closes the connection.
    ///
    /// A request that an idle connection fails to deliver, because the server closed it, is sent once more if it is
    /// idempotent (RFC 9110, section 9.2.2).
    package func send(_ request: WebRequest) async throws(WebClientError) -> WebResponse {
        try request.check(bodyLimit: configuration.bodyByteLimit)
        try request.url.requireEncryption()
        let deadline = NIODeadline.now() + TimeAmount(configuration.requestLimit)
        try await pool.enter(until: deadline)
        defer { pool.leave() }
        let origin = ConnectionPool.Origin(request.url)
        if let channel = pool.take(origin) {
            switch try await exchange(request, on: channel, origin, until: deadline) {
            case .response(let response, _): return response
            case .failure(.closed, hasBegun: false) where request.isIdempotent && !pool.isClosed: break
            case .failure(let error, _): throw pool.isClosed ? .clientClosed : error
            }
        }
        let channel = try await connector.connect(to: request.url, until: deadline)
        pool.watch(channel, origin)
        switch try await exchange(request, on: channel, origin, until: deadline) {
        case .response(let response, _): return response
        case .failure(let error, _): throw pool.isClosed ? .clientClosed : error
        }
    }

    /// Closes all connections; requests under way fail, and later ones are refused.
    package func close() { pool.close() }

    private func exchange(
        _ request: WebRequest,
        on channel: any Channel,
        _ origin: ConnectionPool.Origin,
        until deadline: NIODeadline
    ) async throws(WebClientError) -> Exchange.Outcome {
        do {
            try pool.begin(channel)
        } catch {
            channel.close(promise: nil)
            throw error
        }
        let exchange = Exchange(request, bodyLimit: configuration.bodyByteLimit)
        let alarm = loop.scheduleTask(deadline: deadline) {
            _ = exchange.outcome.fulfil(.failure(.timedOut(.response), hasBegun: true))
        }
        defer { alarm.cancel() }
        channel.writeAndFlush(exchange).whenFailure { _ in
            exchange.outcome.fulfil(.failure(.closed, hasBegun: false))
        }
        let outcome: Exchange.Outcome
        do {
            outcome = try await exchange.outcome.wait()
        } catch {
            outcome = .failure(.cancelled, hasBegun: true)
        }
        if case .response(_, let isReusable) = outcome {
            pool.end(channel, origin, isReusable: isReusable)
        } else {
            pool.end(channel, origin, isReusable: false)
        }
        return outcome
    }
}
