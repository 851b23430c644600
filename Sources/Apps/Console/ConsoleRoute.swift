/// One thing that can be asked of the console: a method, a path with places for names, and who answers.
package struct ConsoleRoute: Sendable {
    /// How it is asked for; reading is `get`, and nothing that is read changes.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// What comes with it, and how much of that is taken.
    package enum Body: Hashable, Sendable {
        case none
        /// A JSON text, which must be declared as one; none at all is taken for an empty object.
        case json(limit: Int = ConsoleRoute.jsonByteLimit)
        /// Bytes of any kind, held in memory.
        case bytes(limit: Int)
        /// Bytes of any kind, kept in a file of their own until the answer is over.
        case file(limit: UInt64)
    }

    package typealias Answerer = @Sendable (ConsoleRequest) async -> ConsoleAnswer

    /// Everything that a form says has room.
    package static let jsonByteLimit = 1 << 20

    package let method: Method
    /// The path, with `{name}` for a segment that is handed on: `/api/v1/networks/{network}`.
    package let template: String
    package let body: Body
    package let answer: Answerer

    package init(_ method: Method, _ template: String, body: Body = .none, answer: @escaping Answerer) {
        self.method = method
        self.template = template
        self.body = body
        self.answer = answer
    }
}

/// A request that the rules let through.
package struct ConsoleRequest: Sendable {
    /// What stands in the places of the route's template, decoded.
    package var parameters: [String: String] = [:]
    /// What stands behind the question mark, decoded; of a name that is there twice, the last.
    package var query: [String: String] = [:]
    /// What came with it, for routes that take JSON or bytes.
    package var body: [UInt8] = []
    /// Where what came with it lies, for routes that take a file; it is gone when the answer is over.
    package var file: ConsoleFile?
    /// The origin of the request.
    package var origin = Origin.thisMachine

    /// The ways to a node.
    package enum Origin: Hashable, Sendable {
        /// The Unix socket in the home: a process of the node's own user.
        case socket
        /// The loopback interface.
        case thisMachine
        /// The local network.
        case network
    }

    package init() {}

    /// What stands in a place of the template; empty if the template has no such place.
    package subscript(name: String) -> String { parameters[name] ?? "" }
}

/// A file that came with a request.
package struct ConsoleFile: Hashable, Sendable {
    package let path: String
    package let byteCount: UInt64
}
