internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Locking
package import Logging
internal import NIOCore

/// A small web server on the loopback interface, by which programs of this machine look at a running node.
///
/// There is one page, `/metrics`. ``AccessRules`` decides who gets it.
package struct Console: Sendable {
    /// How a console is set up.
    package struct Configuration: Sendable {
        /// On 127.0.0.1; 0 lets the system choose.
        package var port: UInt16
        /// What every request must carry as `Authorization: Bearer …`.
        package var token: String
        /// Writes the page of the metrics, and says what kind of text it is.
        package var metrics: @Sendable () -> (text: String, contentType: String)
        package var logger: Logger

        package init(
            port: UInt16,
            token: String,
            metrics: @escaping @Sendable () -> (text: String, contentType: String),
            logger: Logger
        ) {
            self.port = port
            self.token = token
            self.metrics = metrics
            self.logger = logger
        }
    }

    /// Where the metrics are.
    package static let metricsPath = "/metrics"
    /// Connections at a time: some collectors and a person.
    private static let connectionLimit = 64
    /// The longest head of a request.
    private static let headByteLimit = 16 * 1024
    /// A client that says nothing for so long is cut off.
    private static let idleTimeout = TimeAmount.seconds(30)

    private let configuration: Configuration

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until the task is cancelled; `onReady` gets the port.
    ///
    /// - Throws: ``ConsoleError`` when the port cannot be had.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let rules = Locked<AccessRules?>(nil)
        let configuration = self.configuration
        var logger = configuration.logger
        // Its own words about starting and stopping are for people who know it.
        logger.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                Self.answer(request, rules.withLock { $0 }, configuration)
            },
            server: .http1(
                configuration: .init(
                    idleTimeout: Self.idleTimeout,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headByteLimit,
                        maxHeaderListSize: Self.headByteLimit,
                        maxHeaderFieldCount: 64
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: Int(configuration.port)),
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connectionLimit)
            ),
            onServerRunning: { channel in
                let port = UInt16(clamping: channel.localAddress?.port ?? 0)
                rules.withLock {
                    $0 = AccessRules(port: port, token: configuration.token, paths: [Self.metricsPath])
                }
                onReady(port)
            },
            logger: logger
        )
        do {
            try await application.run()
        } catch is CancellationError {
            return
        } catch let error as IOError {
            throw ConsoleError.cannotListen(port: configuration.port, reason: "\(error)")
        }
    }

    private static func answer(_ request: Request, _ rules: AccessRules?, _ configuration: Configuration) -> Response {
        let question = AccessRules.Request(
            method: request.method.rawValue,
            path: request.uri.path,
            host: request.head.authority,
            origin: request.headers[.origin],
            authorization: request.headers[.authorization]
        )
        switch rules?.judge(question) ?? .foreignHost {
        case .allowed:
            let (text, contentType) = configuration.metrics()
            return self.page(.ok, text, contentType)
        case .foreignHost: return self.page(.misdirectedRequest, "call this server localhost or 127.0.0.1\n")
        case .foreignOrigin: return self.page(.forbidden, "pages of other origins get nothing here\n")
        case .unauthorized:
            return self.page(
                .unauthorized,
                "send the token: Authorization: Bearer …\n",
                further: [.wwwAuthenticate: "Bearer realm=\"runar\""]
            )
        case .notFound: return self.page(.notFound, "there is no such page\n")
        case .methodNotAllowed: return self.page(.methodNotAllowed, "it can only be read\n", further: [.allow: "GET"])
        }
    }

    private static func page(
        _ status: HTTPResponse.Status,
        _ text: String,
        _ contentType: String = "text/plain; charset=utf-8",
        further: HTTPFields = [:]
    ) -> Response {
        var fields: HTTPFields = [
            .contentType: contentType,
            .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        for field in further { fields.append(field) }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
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
