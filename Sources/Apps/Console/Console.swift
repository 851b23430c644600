internal import Bytes
package import Certificates
internal import Concurrency
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
package import Identity
package import Logging
internal import NIOCore
internal import Platform

/// A web server of a node: the pages of the console for browsers, and the routes for them and for programs.
///
/// Pages are for every permitted client (``AccessRules``) and contain nothing of this node; every route needs a token
/// (``ConsoleSessions``). The Unix socket of the home has routes only, and the kernel authenticates its clients.
package struct Console: Sendable {
    /// The address that a console listens on; with port 0 the system chooses the port.
    package enum Place: Sendable {
        /// At a Unix socket, for the processes of one user (the number is the kernel's) and without tokens or pages.
        case socket(path: String, user: UInt32)
        /// On 127.0.0.1, over plain HTTP.
        case thisMachine(port: UInt16)
        /// On every address of this machine, over TLS 1.3, for the local network (``Neighbourhood``) alone.
        case network(port: UInt16, ServerCertificate)

        /// The origin of its requests.
        var origin: RouteRequest.Origin {
            switch self {
            case .socket: .socket
            case .thisMachine: .thisMachine
            case .network: .network
            }
        }
    }

    /// The configuration of a console.
    package struct Configuration: Sendable {
        package var place: Place
        /// Whether any free port will do when this one is taken.
        package var mayMove = false
        package var sessions: ConsoleSessions
        package var routes: [Route]
        /// The directory that holds uploaded files while their requests are answered.
        package var uploads: String
        /// Makes a new key and returns it, when the person signs out everywhere; nil if that cannot be kept.
        package var replaceKey: @Sendable () -> String? = { nil }
        /// Called whenever a secret became a token.
        package var onSignIn: @Sendable () -> Void = {}
        /// A client that keeps the server waiting for so long is cut off.
        package var patience = Duration.seconds(30)
        package var logger: Logger
        /// Whether a client at this address may connect over the network.
        package var isNear: @Sendable (IPAddress) -> Bool = { peer in
            Neighbourhood.includes(peer) { ThisMachine.addresses() }
        }

        package init(place: Place, sessions: ConsoleSessions, routes: [Route], uploads: String, logger: Logger) {
            self.place = place
            self.sessions = sessions
            self.routes = routes
            self.uploads = uploads
            self.logger = logger
        }
    }

    /// Concurrent connections: some pages of a person and some programs.
    private static let connectionLimit = 64
    /// Some pages and programs need one thread; by default the library starts one for each core of the machine.
    private static let sparesThreads: Void = { NIOSingletons.groupLoopCountSuggestion = 1 }()

    /// Limits the network library to one thread; call it before the first use of that library.
    package static func spareThreads() { _ = sparesThreads }

    let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``ConsoleError`` when the port is not available.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        switch configuration.place {
        case .socket(let path, _):
            try await serve(on: .unixDomainSocket(path: path), at: path, onReady)
        case .thisMachine(let port):
            do {
                try await serve(on: "127.0.0.1", port, onReady)
            } catch ConsoleError.cannotListen where configuration.mayMove && port != 0 {
                try await serve(on: "127.0.0.1", 0, onReady)
            }
        case .network(let port, _):
            try await serve(on: ThisMachine.wildcard(for: ThisMachine.addresses()), port, onReady)
        }
    }

    private func serve(on host: String, _ port: UInt16, _ onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let name = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        try await serve(on: .hostname(host, port: Int(port)), at: name, onReady)
    }

    private func serve(
        on address: BindAddress,
        at name: String,
        _ onReady: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        let responder = Responder(configuration)
        let listener = Locked<(any Channel)?>(nil)
        var logger = configuration.logger
        // The library's own messages about starting and stopping are for its developers.
        logger.logLevel = max(logger.logLevel, .warning)
        let origin = configuration.place.origin
        Self.spareThreads()
        let application = Application(
            responder: CallbackResponder<ConsoleContext> { request, context in
                await responder.respond(to: request, context)
            },
            server: try server(),
            configuration: ApplicationConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            onServerRunning: { channel in
                let port = UInt16(clamping: channel.localAddress?.port ?? 0)
                switch origin {
                case .thisProcess, .socket: break
                case .thisMachine: responder.use(.loopback(port: port))
                case .network: responder.use(.network)
                }
                listener.withLock { $0 = channel }
                channel.eventLoop.execute {
                    let pipeline = channel.pipeline.syncOperations
                    try? pipeline.addHandler(AcceptPauseHandler(), position: .first)  // it is closed
                }
                onReady(port)
            },
            logger: logger
        )
        // Of its own: a part of this task would be cancelled with it, which the server takes for a failure and logs.
        let serving = Task { try await application.run() }
        do {
            try await withTaskCancellationHandler {
                try await serving.value
            } onCancel: {
                responder.endStreams()
                Self.stop(serving, on: listener.withLock { $0 })
            }
        } catch _ where Task.isCancelled {
            return
        } catch let error as IOError {
            throw ConsoleError.cannotListen(place: name, reason: SystemErrors.text(of: error.errnoCode))
        }
    }

    /// Stops accepting connections, then cancels the open ones.
    private static func stop(_ serving: Task<Void, any Error>, on listener: (any Channel)?) {
        guard let listener else { return serving.cancel() }
        listener.closeFuture.whenComplete { _ in serving.cancel() }
        listener.close(promise: nil)
    }
}

/// The context of a request: its channel and its body.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The body of the request, which is read once.
    var body: IncomingBody?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// A failure of the console to start.
package enum ConsoleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system does not give the address and port, or the path of the socket.
    case cannotListen(place: String, reason: String)

    /// The reason and the remedy.
    package var description: String {
        switch self {
        case .cannotListen(let place, let reason) where place.hasPrefix("/"): "cannot listen on \(place): \(reason)"
        case .cannotListen(let place, let reason):
            "cannot listen on \(place): \(reason); choose another port, or 0 for any free port"
        }
    }
}
