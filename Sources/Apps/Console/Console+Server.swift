internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

extension Console {
    /// The longest head of a request.
    private static let headByteLimit = 16 * 1024
    private static let headFieldLimit = 64

    private var patience: TimeAmount { TimeAmount(configuration.patience) }

    /// HTTP within bounds, on the kind of channel that the place needs.
    ///
    /// - Throws: ``TLSServerError``.
    func server() throws -> HTTPServerBuilder {
        let patience = patience
        switch configuration.place {
        case .socket(_, let user):
            // A command behind a pager may read slowly, so it is not disconnected.
            let http = http { [] }
            return HTTPServerBuilder { responder in
                UserChannel(
                    inner: DroppableChannel(inner: HTTP1Channel(responder: responder, configuration: http)),
                    user: user
                )
            }
        case .thisMachine:
            let http = http { [SlowReaderHandler(patience: patience)] }
            return HTTPServerBuilder { responder in
                DroppableChannel(inner: HTTP1Channel(responder: responder, configuration: http))
            }
        case .network(_, let certificate):
            let http = http { [ConnectionFilter.HandshakeNotifier(), SlowReaderHandler(patience: patience)] }
            let (identity, isNear) = (try TLSServerIdentity(certificate), configuration.isNear)
            return HTTPServerBuilder { responder in
                let http = HTTP1Channel(responder: responder, configuration: http)
                return FilteredChannel(
                    inner: DroppableChannel(inner: TLSServerChannel(inner: http, identity: identity))
                ) {
                    ConnectionFilter(patience: patience, isNear: isNear)
                }
            }
        }
    }

    private func http(
        _ handlers: @escaping @Sendable () -> [any RemovableChannelHandler]
    ) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: handlers() + [DisconnectHandler()],
            idleTimeout: patience,
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: Self.headByteLimit,
                maxHeaderListSize: Self.headByteLimit,
                maxHeaderFieldCount: Self.headFieldLimit
            )
        )
    }
}
