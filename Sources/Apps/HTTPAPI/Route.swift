package import Identity

/// A route of a server: a method, a path template and a handler.
package struct Route: Sendable {
    /// The HTTP method; `get` changes nothing and also answers HEAD.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The kind of request body that the route accepts, and its size limit.
    package enum Body: Hashable, Sendable {
        case none
        /// A JSON text, which must be declared as one; none at all is taken for an empty object.
        case json(limit: Int = Route.jsonByteLimit)
        /// Bytes of any kind, held in memory.
        case bytes(limit: Int)
        /// Bytes of any kind, in a file of their own, which is removed after the answer.
        case file(limit: UInt64)
    }

    package typealias Answerer = @Sendable (RouteRequest) async -> RouteAnswer

    /// Enough for every form.
    package static let jsonByteLimit = 1 << 20

    package let method: Method
    /// The path, with `{name}` for a segment that is passed to the handler: `/api/v1/networks/{network}`.
    package let template: String
    package let body: Body
    /// Whether the task that answers is cancelled when the client disconnects; otherwise it completes the request.
    package let endsWithClient: Bool
    package let answer: Answerer

    package init(
        _ method: Method,
        _ template: String,
        body: Body = .none,
        endsWithClient: Bool = false,
        answer: @escaping Answerer
    ) {
        self.method = method
        self.template = template
        self.body = body
        self.endsWithClient = endsWithClient
        self.answer = answer
    }
}

/// A request that the rules let through.
package struct RouteRequest: Sendable {
    /// The values of the template's placeholders, decoded.
    package var parameters: [String: String] = [:]
    /// The query parameters, decoded; the last value counts if a name is repeated.
    package var query: [String: String] = [:]
    /// The header fields, without `Host`; at most 64 in 16 KiB.
    package var fields = HeaderFields()
    /// The request body, for routes that take JSON or bytes.
    package var body: [UInt8] = []
    /// The file that holds the request body, for routes that take one; it is deleted after the response.
    package var file: ReceivedFile?
    /// The origin of the request.
    package var origin = Origin.thisMachine
    /// The `Host` field.
    package var host: String?
    /// The client's end of the connection; nil at a Unix socket.
    package var remoteAddress: SocketAddress?

    /// The ways to a server.
    package enum Origin: Hashable, Sendable {
        /// The process of the server itself, which calls a route without a connection.
        case thisProcess
        /// A Unix socket: a process of the server's own user.
        case socket
        /// The loopback interface.
        case thisMachine
        /// The network.
        case network

        /// Whether the request was sent by a process of the server's own user.
        package var isOfUser: Bool {
            switch self {
            case .thisProcess, .socket: true
            case .thisMachine, .network: false
            }
        }
    }

    package init() {}

    /// The value of a placeholder; empty if the template has no such placeholder.
    package subscript(name: String) -> String { parameters[name] ?? "" }
}

/// The content of a request in a file.
package struct ReceivedFile: Hashable, Sendable {
    package let path: String
    package let byteCount: UInt64
}
