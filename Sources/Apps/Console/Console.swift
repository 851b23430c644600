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

/// A web server of a node: the pages of the console for browsers, and the routes that they and programs ask.
///
/// Pages are for everybody who may ask at all (``AccessRules``) and say nothing of this node; every route needs a token
/// (``ConsoleSessions``).
package struct Console: Sendable {
    /// Where a console is; with port 0 the system chooses one.
    package enum Place: Sendable {
        /// On 127.0.0.1, over plain HTTP.
        case thisMachine(port: UInt16)
        /// On every address of this machine, over TLS 1.3, for the local network (``Neighbourhood``) alone.
        case network(port: UInt16, ServerCertificate)

        var port: UInt16 {
            switch self {
            case .thisMachine(let port), .network(let port, _): port
            }
        }

        var isThisMachine: Bool {
            switch self {
            case .thisMachine: true
            case .network: false
            }
        }
    }

    /// How a console is set up.
    package struct Configuration: Sendable {
        package var place: Place
        /// Whether any free port will do when this one is taken.
        package var mayMove = false
        package var sessions: ConsoleSessions
        package var routes: [ConsoleRoute]
        /// Where files that come with requests are kept meanwhile.
        package var uploads: String
        /// Makes a new key and returns it, when the person signs out everywhere; nil if that cannot be kept.
        package var replaceKey: @Sendable () -> String? = { nil }
        /// Told whenever a secret became a token.
        package var onSignIn: @Sendable () -> Void = {}
        /// A client that keeps the server waiting for so long is cut off.
        package var patience = Duration.seconds(30)
        package var logger: Logger
        /// Who is let in over the network.
        package var isNear: @Sendable (IPAddress) -> Bool = { peer in
            Neighbourhood.includes(peer) { ThisMachine.addresses() }
        }

        package init(
            place: Place,
            sessions: ConsoleSessions,
            routes: [ConsoleRoute],
            uploads: String,
            logger: Logger
        ) {
            self.place = place
            self.sessions = sessions
            self.routes = routes
            self.uploads = uploads
            self.logger = logger
        }
    }

    /// Connections at a time: some pages of a person and some programs.
    private static let connectionLimit = 64
    /// The longest head of a request.
    private static let headByteLimit = 16 * 1024
    private static let headFieldLimit = 64
    /// Some pages and programs need one thread; without a word the library starts one for each core of the machine.
    private static let sparesThreads: Void = { NIOSingletons.groupLoopCountSuggestion = 1 }()

    private let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``ConsoleError`` when the port cannot be had.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        switch configuration.place {
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
        let responder = ConsoleResponder(configuration)
        let listener = Locked<(any Channel)?>(nil)
        var logger = configuration.logger
        // Its own words about starting and stopping are for people who know it.
        logger.logLevel = max(logger.logLevel, .warning)
        let isThisMachine = configuration.place.isThisMachine
        _ = Self.sparesThreads
        let application = Application(
            responder: CallbackResponder<ConsoleContext> { request, context in
                await responder.respond(to: request, context)
            },
            server: try server(),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: Int(port)),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            onServerRunning: { channel in
                let port = UInt16(clamping: channel.localAddress?.port ?? 0)
                responder.use(isThisMachine ? .loopback(port: port) : .network)
                listener.withLock { $0 = channel }
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
            throw ConsoleError.cannotListen(host: host, port: port, reason: SystemErrors.text(of: error.errnoCode))
        }
    }

    /// Lets nobody in any more before it cancels what is left.
    private static func stop(_ serving: Task<Void, any Error>, on listener: (any Channel)?) {
        guard let listener else { return serving.cancel() }
        listener.closeFuture.whenComplete { _ in serving.cancel() }
        listener.close(promise: nil)
    }

    /// HTTP within bounds; for the network inside TLS, behind a door.
    private func server() throws -> HTTPServerBuilder {
        let patience = TimeAmount(configuration.patience)
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Self.headByteLimit,
            maxHeaderListSize: Self.headByteLimit,
            maxHeaderFieldCount: Self.headFieldLimit
        )
        guard case .network(_, let certificate) = configuration.place else {
            let http = HTTP1Channel.Configuration(
                additionalChannelHandlers: [SlowReaderHandler(patience: patience), DepartureHandler()],
                idleTimeout: patience,
                httpDecoderConfiguration: limits
            )
            return HTTPServerBuilder { responder in
                DroppableChannel(inner: HTTP1Channel(responder: responder, configuration: http))
            }
        }
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                NetworkDoor.Bell(), SlowReaderHandler(patience: patience), DepartureHandler(),
            ],
            idleTimeout: patience,
            httpDecoderConfiguration: limits
        )
        let (identity, isNear) = (try TLSServerIdentity(certificate), configuration.isNear)
        return HTTPServerBuilder { responder in
            let http = HTTP1Channel(responder: responder, configuration: http)
            return DoorChannel(inner: DroppableChannel(inner: TLSServerChannel(inner: http, identity: identity))) {
                NetworkDoor(patience: patience, isNear: isNear)
            }
        }
    }
}

/// What the server knows of a connection.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Why the console cannot be there.
package enum ConsoleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system does not give the port.
    case cannotListen(host: String, port: UInt16, reason: String)

    /// Says what to do.
    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason):
            "cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(reason); choose another port, or 0"
                + " for any that is free"
        }
    }
}
