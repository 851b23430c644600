package import Certificates
internal import Concurrency
internal import Hummingbird
internal import HummingbirdCore
package import Identity
package import Logging
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import TLSChannel

/// An HTTP/1.1 server for routes, with bounds for everything that a client sends or delays.
///
/// The rules of its configuration decide about every request: with the head alone, again after the body, and before lines
/// are streamed.
package struct HTTPServer: Sendable {
    /// The address that a server listens on; with port 0 the system chooses the port.
    package enum Address: Hashable, Sendable {
        /// At a Unix socket, for the processes of one user (the number is the kernel's).
        case socket(path: String, user: UInt32)
        /// On 127.0.0.1.
        case thisMachine(port: UInt16)
        /// On an address of this machine, or on all of them by a wildcard.
        case network(host: String, port: UInt16)

        /// The origin of the requests.
        var origin: RouteRequest.Origin {
            switch self {
            case .socket: .socket
            case .thisMachine: .thisMachine
            case .network: .network
            }
        }

        /// The address in a sentence.
        var name: String {
            switch self {
            case .socket(let path, _): path
            case .thisMachine(let port): "127.0.0.1:\(port)"
            case .network(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
            }
        }

        fileprivate var bindAddress: BindAddress {
            switch self {
            case .socket(let path, _): .unixDomainSocket(path: path)
            case .thisMachine(let port): .hostname("127.0.0.1", port: Int(port))
            case .network(let host, let port): .hostname(host, port: Int(port))
            }
        }
    }

    /// The bounds of a server.
    package struct Limits: Hashable, Sendable {
        /// The number of concurrent connections; further ones wait to be accepted.
        package var connectionCount = 64
        /// The time after which a client that keeps the server waiting is disconnected.
        package var patience = Duration.seconds(30)
        /// Whether a client that does not read its answer stays connected.
        package var toleratesSlowReaders = false
        /// The time that a server that stops gives requests in progress until the kernel has the answers; zero closes
        /// the connections at once, also in the middle of an answer.
        package var drain = Duration.seconds(2)

        package init() {}
    }

    /// The configuration of a server.
    package struct Configuration: Sendable {
        package var address: Address
        /// The certificates for TLS 1.3; nil for plain HTTP.
        package var certificate: CertificateChain?
        package var routes: [Route]
        /// The answer to a request to a path that no route has; not lines.
        package var fallback: @Sendable (RequestHead) -> RouteAnswer = { _ in .failure(.noRoute) }
        /// Returns nil for a request that is let through, or the refusal; not lines.
        package var authorize: @Sendable (RequestHead) -> RouteAnswer? = { _ in nil }
        /// Whether a client at this address may connect; nil if all may.
        ///
        /// It is not called at a Unix socket.
        package var admits: (@Sendable (IPAddress) -> Bool)?
        /// The header fields of every answer.
        package var fields = HeaderFields()
        /// A list that the answers of lines join, with which its owner can end them.
        package var streams = OpenStreams()
        package var limits = Limits()
        /// The beginning of the path of a file that holds the body of a request while it is answered.
        package var uploadPrefix: String
        package var logger: Logger

        package init(address: Address, routes: [Route], uploadPrefix: String, logger: Logger) {
            self.address = address
            self.routes = routes
            self.uploadPrefix = uploadPrefix
            self.logger = logger
        }
    }

    /// The event loops of all servers, which never end: the library's server uses one until it is deallocated.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    let configuration: Configuration
    /// The certificates that replaced those of the configuration.
    private let identity = Locked<TLSIdentity?>(nil)

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Replaces the certificates of a server with TLS; open connections keep theirs.
    ///
    /// - Throws: ``HTTPServerError/badCertificate(reason:)``; the previous certificates stay in use.
    package func replaceCertificate(with chain: CertificateChain) throws(HTTPServerError) {
        precondition(configuration.certificate != nil, "a server without TLS has no certificate to replace")
        let replacement = try Self.identity(of: chain)
        identity.withLock { $0 = replacement }
    }

    /// Returns a function that returns the current certificates; nil without TLS.
    ///
    /// - Throws: ``HTTPServerError`` when the certificates of the configuration cannot be used.
    func loadedIdentity() throws(HTTPServerError) -> (@Sendable () -> TLSIdentity)? {
        guard let chain = configuration.certificate else { return nil }
        let configured = try Self.identity(of: chain)
        return { [identity] in identity.withLock { $0 } ?? configured }
    }

    private static func identity(of chain: CertificateChain) throws(HTTPServerError) -> TLSIdentity {
        do {
            return try TLSIdentity(chain)
        } catch {
            if case .badCredentials(let reason) = error { throw .badCertificate(reason: reason) }
            throw .badCertificate(reason: "\(error)")
        }
    }

    /// Serves until the task is cancelled, and until requests in progress were answered, for at most ``Limits/drain``;
    /// `onReady` gets the port, or 0 at a Unix socket.
    ///
    /// No request is answered before `onReady` returns.
    ///
    /// - Throws: ``HTTPServerError``.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let connections = OpenConnections()
        let setup = try connectionSetup(connections)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await serve(setup, connections, onReady))
        } catch {
            outcome = .failure(error)
        }
        await connections.closeAll(on: Self.group)
        try outcome.get()
    }

    private func serve(
        _ setup: @escaping @Sendable (@escaping HTTPChannelHandler.Responder) -> ConnectionSetup,
        _ connections: OpenConnections,
        _ onReady: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        let responder = Responder(configuration)
        let listener = Locked<(any Channel)?>(nil)
        var logger = configuration.logger
        // The library's own messages about starting and stopping are for its developers.
        logger.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<HTTPContext> { request, context in
                await responder.respond(to: request, on: context.channel)
            },
            server: HTTPServerBuilder { setup($0) },
            configuration: ApplicationConfiguration(
                address: configuration.address.bindAddress,
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.limits.connectionCount)
            ),
            onServerRunning: { channel in
                listener.withLock { $0 = channel }
                try? await Self.prepare(channel)  // it is closed
                onReady(UInt16(clamping: channel.localAddress?.port ?? 0))
            },
            eventLoopGroupProvider: .shared(Self.group),
            logger: logger
        )
        // Of its own: a part of this task would be cancelled with it, which the server takes for a failure and logs.
        let serving = Task { try await application.run() }
        do {
            try await withTaskCancellationHandler {
                try await serving.value
            } onCancel: {
                responder.endStreams()
                stop(serving, responder, connections, on: listener.withLock { $0 })
            }
        } catch _ where Task.isCancelled {
            return
        } catch let error as IOError {
            let reason = SystemErrors.text(of: error.errnoCode)
            throw HTTPServerError.cannotListen(place: configuration.address.name, reason: reason)
        }
    }

    /// Lets a listening channel keep the limit of connections, and pause when the system has no more of them.
    private static func prepare(_ listener: any Channel) async throws {
        try await listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(AcceptPauseHandler(), position: .first)
            // The library compares the number with the limit once per read, which may accept several.
            try listener.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        }.get()
    }

    /// Stops accepting connections, drains the open ones, then cancels them.
    private func stop(
        _ serving: Task<Void, any Error>,
        _ responder: Responder,
        _ connections: OpenConnections,
        on listener: (any Channel)?
    ) {
        guard let listener else { return serving.cancel() }
        let patience = configuration.limits.drain
        listener.closeFuture.whenComplete { _ in
            // Nothing else waits: the closed listener has no further task.
            Task {
                if patience > .zero { await Self.drain(responder, connections, within: patience) }
                serving.cancel()
            }
        }
        listener.close(promise: nil)
    }

    /// Waits until the open requests were answered, and the kernel has taken the answers.
    private static func drain(
        _ responder: Responder,
        _ connections: OpenConnections,
        within patience: Duration
    ) async {
        await withTaskGroup { group in
            group.addTask {
                await responder.drain()
                await connections.endAll(within: TimeAmount(patience))
            }
            group.addTask { try? await Task.sleep(for: patience) }  // cancelled when all have ended
            await group.next()
            group.cancelAll()
        }
    }
}

/// The context of a request: its channel.
struct HTTPContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// A failure of a server to start.
package enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system does not give the address and port, or the path of the socket.
    case cannotListen(place: String, reason: String)
    /// The TLS library refuses the certificate or its key.
    case badCertificate(reason: String)

    package var description: String {
        switch self {
        case .cannotListen(let place, let reason): "cannot listen on \(place): \(reason)"
        case .badCertificate(let reason): "the certificate of the server cannot be used: \(reason)"
        }
    }
}
