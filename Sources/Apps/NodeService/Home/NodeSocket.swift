internal import Bytes
package import CommandModel
internal import Console
internal import Logging
package import NodeModel
internal import Platform

/// Serves the API of a node on the socket in its home, to which commands connect.
///
/// Only the user that runs the node has access: the home is closed to others, and the kernel states the user of a peer.
package struct NodeSocket: Sendable {
    package static let name = HomeFile.socket.rawValue
    /// The length of the session key, which is random here because the socket needs no tokens.
    private static let keyByteCount = 32

    private let handler: RequestHandler
    private let console: NodeConsole?
    private let path: String

    /// Makes room for the socket; call it only while holding the home's lock, since a dead node's socket is removed.
    ///
    /// - Throws: ``CommandFailure`` when the path is too long.
    package init(_ handler: RequestHandler, console: NodeConsole? = nil) throws(CommandFailure) {
        self.handler = handler
        self.console = console
        path = handler.home.file(Self.name)
        guard path.utf8.count <= UnixSocket.pathByteLimit else {
            throw CommandFailure(
                "long-home",
                .configuration,
                "the path of the home is too long for a control socket (\(UnixSocket.pathByteLimit) bytes with its name):"
                    + " choose a shorter one with --home"
            )
        }
        Posix.unlink(path)
    }

    /// Serves until the task is cancelled; `onReady` is called when commands can connect.
    ///
    /// - Throws: ``CommandFailure`` when the socket is not available.
    package func run(onReady: @escaping @Sendable () -> Void) async throws {
        let api = NodeAPI(handler, console: console)
        var random = SystemRandom()
        let configuration = Console.Configuration(
            place: .socket(path: path, user: Posix.user),
            sessions: ConsoleSessions(key: Hex.encode(random.bytes(count: Self.keyByteCount))),
            routes: api.routes + api.commandRoutes,
            uploads: handler.home.path,
            logger: Logger(label: "runar.control")
        )
        defer { Posix.unlink(path) }
        do {
            try await Console(configuration).run { [path] _ in
                _ = Posix.setMode(0o600, of: path)  // the home is closed to others as well
                onReady()
            }
        } catch let error as ConsoleError {
            throw CommandFailure("no-control-socket", .cannotCreate, error.description)
        }
    }
}
