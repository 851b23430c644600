/// The response of a route.
package struct RouteAnswer: Sendable {
    /// The body of a response.
    package enum Content: Sendable {
        case empty
        /// A JSON text.
        case json([UInt8])
        /// A JSON text, and an action that runs once it was written or the client disconnected: one that ends the
        /// server.
        case last([UInt8], then: @Sendable () -> Void)
        /// Bytes of any type.
        case bytes([UInt8], contentType: String)
        /// JSON texts, one per line, sent as they are produced; the task is cancelled when the client stops reading.
        case lines(@Sendable (LineWriter) async -> Void)
        /// Bytes to keep, under that name.
        case download([UInt8], name: String)
        /// A file to keep, under that name.
        case file(path: String, name: String)
    }

    package var status: Int
    package var content: Content
    /// Further header fields, which replace those that the server sends with every answer.
    package var fields = HeaderFields()

    package init(_ content: Content, status: Int = 200) {
        self.content = content
        self.status = status
    }

    /// A JSON text.
    package static func json(_ bytes: [UInt8], status: Int = 200) -> RouteAnswer { Self(.json(bytes), status: status) }

    /// A JSON text, and an action that runs once it was written or the client disconnected.
    package static func last(_ bytes: [UInt8], then action: @escaping @Sendable () -> Void) -> RouteAnswer {
        Self(.last(bytes, then: action))
    }

    package static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> RouteAnswer {
        Self(.bytes(Array(text.utf8), contentType: contentType))
    }

    /// JSON texts, one per line, sent as they are produced.
    package static func lines(_ write: @escaping @Sendable (LineWriter) async -> Void) -> RouteAnswer {
        Self(.lines(write))
    }

    /// Bytes to keep, under that name.
    package static func download(_ bytes: [UInt8], name: String) -> RouteAnswer { Self(.download(bytes, name: name)) }

    /// A file to keep, under that name.
    package static func file(path: String, name: String) -> RouteAnswer { Self(.file(path: path, name: name)) }

    /// A failure in words.
    package static func failure(_ failure: RouteFailure) -> RouteAnswer {
        Self(.json(failure.json), status: failure.status)
    }

    /// Returns the answer with a further header field.
    ///
    /// - Throws: ``HeaderFieldError`` if the name or the value is not allowed.
    package func adding(_ name: String, _ value: String) throws(HeaderFieldError) -> RouteAnswer {
        var answer = self
        try answer.fields.append(name, value)
        return answer
    }
}

/// The writer that a route with a response of lines uses.
package struct LineWriter: Sendable {
    private let put: @Sendable ([UInt8]) async -> Bool

    package init(_ put: @escaping @Sendable ([UInt8]) async -> Bool) {
        self.put = put
    }

    /// Writes a JSON text as a line and returns once the client has room for more; false when it has disconnected.
    @discardableResult
    package func write(_ json: [UInt8]) async -> Bool { await put(json) }
}
