internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Locking
package import Logging
internal import NIOCore

/// The web server of a node, on the loopback interface: the pages of the console for browsers, and the routes that they
/// and programs ask.
///
/// Pages are for everybody who may ask at all (``AccessRules``) and say nothing of this node; every route needs a token
/// (``ConsoleSessions``).
package struct Console: Sendable {
    /// How a console is set up.
    package struct Configuration: Sendable {
        /// On 127.0.0.1; 0 lets the system choose.
        package var port: UInt16
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

        package init(
            port: UInt16,
            sessions: ConsoleSessions,
            routes: [ConsoleRoute],
            uploads: String,
            logger: Logger
        ) {
            self.port = port
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

    private let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``ConsoleError`` when the port cannot be had.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        do {
            try await serve(on: configuration.port, onReady)
        } catch ConsoleError.cannotListen where configuration.mayMove && configuration.port != 0 {
            try await serve(on: 0, onReady)
        }
    }

    private func serve(on port: UInt16, _ onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let responder = ConsoleResponder(configuration)
        let patience = TimeAmount(configuration.patience)
        var logger = configuration.logger
        // Its own words about starting and stopping are for people who know it.
        logger.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<ConsoleContext> { request, context in
                await responder.respond(to: request, context)
            },
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [SlowReaderHandler(patience: patience), DepartureHandler()],
                    idleTimeout: patience,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headByteLimit,
                        maxHeaderListSize: Self.headByteLimit,
                        maxHeaderFieldCount: Self.headFieldLimit
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: Int(port)),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            onServerRunning: { channel in
                let port = UInt16(clamping: channel.localAddress?.port ?? 0)
                responder.use(AccessRules(port: port))
                onReady(port)
            },
            logger: logger
        )
        do {
            try await application.run()
        } catch is CancellationError {
            return
        } catch let error as IOError {
            throw ConsoleError.cannotListen(port: port, reason: "\(error)")
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
    case cannotListen(port: UInt16, reason: String)

    /// Says what to do.
    package var description: String {
        switch self {
        case .cannotListen(let port, let reason):
            "cannot listen on 127.0.0.1:\(port): \(reason); choose another port, or 0 for any that is free"
        }
    }
}
