package import Certificates
internal import Concurrency
package import HTTPAPI
package import Identity
package import Logging
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
    /// The name of a file that holds an upload begins with this.
    private static let uploadName = ".console.upload-"

    let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``ConsoleError`` when the port is not available.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        do {
            try await HTTPServer(server).run(onReady: onReady)
        } catch HTTPServerError.cannotListen where canMove {
            var other = configuration
            other.place = .thisMachine(port: 0)
            try await Console(other).run(onReady: onReady)
        } catch let error as HTTPServerError {
            throw ConsoleError(error)
        }
    }

    private var canMove: Bool {
        guard case .thisMachine(let port) = configuration.place else { return false }
        return configuration.mayMove && port != 0
    }

    /// The server in the form that the place needs.
    private var server: HTTPServer.Configuration {
        var routes = configuration.routes
        if !isAtSocket { routes = SessionRoutes(configuration).routes + routes }
        var server = HTTPServer.Configuration(
            address: address,
            routes: routes,
            uploadPrefix: FilePath.joining(configuration.uploads, Self.uploadName),
            logger: configuration.logger
        )
        server.fields = HeaderFields.strict
        server.streams = configuration.sessions.streams
        server.limits.connectionCount = Self.connectionLimit
        server.limits.patience = configuration.patience
        switch configuration.place {
        case .socket:
            // A command behind a pager may read slowly, so it is not disconnected.
            server.limits.toleratesSlowReaders = true
        case .thisMachine: break
        case .network(_, let certificate):
            server.certificate = certificate.chain
            server.admits = configuration.isNear
        }
        if let access {
            server.authorize = access.refusal
            let pages = PageAnswerer.ofConsole
            server.fallback = { head in ConsoleAccess.isForPrograms(head) ? .failure(.noRoute) : pages.answer(head) }
        }
        return server
    }

    private var address: HTTPServer.Address {
        switch configuration.place {
        case .socket(let path, let user): .socket(path: path, user: user)
        case .thisMachine(let port): .thisMachine(port: port)
        case .network(let port, _):
            .network(host: ThisMachine.wildcard(for: ThisMachine.addresses()), port: port)
        }
    }

    private var isAtSocket: Bool { access == nil }

    /// The rules for requests; nil at the socket, where the kernel authenticates clients and there are no pages.
    private var access: ConsoleAccess? {
        switch configuration.place {
        case .socket: nil
        case .thisMachine: ConsoleAccess(sessions: configuration.sessions, isForNetwork: false)
        case .network: ConsoleAccess(sessions: configuration.sessions, isForNetwork: true)
        }
    }
}

/// A failure of the console to start.
package enum ConsoleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system does not give the address and port, or the path of the socket.
    case cannotListen(place: String, reason: String)
    /// The TLS library refuses the certificate or its key.
    case badCertificate(reason: String)

    init(_ error: HTTPServerError) {
        switch error {
        case .cannotListen(let place, let reason): self = .cannotListen(place: place, reason: reason)
        case .badCertificate(let reason): self = .badCertificate(reason: reason)
        }
    }

    /// The reason and the remedy.
    package var description: String {
        switch self {
        case .cannotListen(let place, let reason) where place.hasPrefix("/"): "cannot listen on \(place): \(reason)"
        case .cannotListen(let place, let reason):
            "cannot listen on \(place): \(reason); choose another port, or 0 for any free port"
        case .badCertificate(let reason): "the certificate of the console cannot be used: \(reason)"
        }
    }
}
