internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import TLSChannel

/// The setup of an accepted connection: the user of a Unix socket, the filter, TLS and HTTP within bounds, in this order.
struct ConnectionSetup: ServerChildChannel {
    let http: HTTP1Channel
    let connections: OpenConnections
    /// The user that a process at the other end of a Unix socket must have; nil for other connections.
    let user: UInt32?
    /// Makes the filter of a connection; nil if all are served.
    let makeFilter: (@Sendable () -> ConnectionFilter)?
    /// Returns the current certificate for TLS; nil for plain HTTP.
    let identity: (@Sendable () -> TLSIdentity)?

    private struct ForeignUser: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        let ticket = connections.enter(channel)
        let (makeFilter, identity) = (makeFilter, identity)
        return checkUser(of: channel)
            .flatMapThrowing {
                let pipeline = channel.pipeline.syncOperations
                if let makeFilter { try pipeline.addHandler(makeFilter()) }
                if let identity { try pipeline.addHandler(TLSHandler(TLSSession(server: identity()))) }
            }
            .flatMap { http.setup(channel: channel, logger: logger) }
            .map { AcceptedConnection($0, ticket) }
            .flatMapErrorThrowing { error in
                channel.close(promise: nil)
                ticket.leave()
                throw error
            }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        await serve(value, logger)
        value.ticket.leave()
    }

    /// Returns when no reference to the served channel is left, because its release schedules work on the event loop.
    private func serve(_ connection: AcceptedConnection, _ logger: Logger) async {
        guard let channel = connection.take() else { return }
        await http.handle(value: channel, logger: logger)
    }

    private func checkUser(of channel: any Channel) -> EventLoopFuture<Void> {
        guard let user else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.peerUser.flatMapThrowing { if $0 != user { throw ForeignUser() } }
    }
}

extension HTTPServer {
    /// The longest head of a request.
    private static let headByteLimit = 16 * 1024
    private static let headFieldLimit = 64

    /// Returns the setup of connections to the address, for a responder of the library.
    ///
    /// - Throws: ``HTTPServerError`` when the certificate cannot be used.
    func connectionSetup(
        _ connections: OpenConnections
    ) throws(HTTPServerError) -> @Sendable (@escaping HTTPChannelHandler.Responder) -> ConnectionSetup {
        let patience = TimeAmount(configuration.limits.patience)
        let identity = try loadedIdentity()
        var user: UInt32?
        var admits = configuration.admits
        if case .socket(_, let number) = configuration.address { (user, admits) = (number, nil) }
        var makeFilter: (@Sendable () -> ConnectionFilter)?
        if identity != nil || admits != nil {
            let handshake = identity.map { _ in patience }
            makeFilter = { [admits] in ConnectionFilter(handshakePatience: handshake, admits: admits) }
        }
        let (hasTLS, cutsOff) = (identity != nil, !configuration.limits.toleratesSlowReaders)
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: (hasTLS ? [ConnectionFilter.HandshakeNotifier()] : [])
                + (cutsOff ? [SlowReaderHandler(patience: patience)] : []) + [DisconnectHandler()],
            idleTimeout: patience,
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: Self.headByteLimit,
                maxHeaderListSize: Self.headByteLimit,
                maxHeaderFieldCount: Self.headFieldLimit
            )
        )
        return { [user, makeFilter] responder in
            ConnectionSetup(
                http: HTTP1Channel(responder: responder, configuration: http),
                connections: connections,
                user: user,
                makeFilter: makeFilter,
                identity: identity
            )
        }
    }
}
