internal import Foundation

/// The response of a route.
package enum RouteAnswer: Sendable {
    /// A JSON text.
    case json([UInt8], status: Int = 200)
    /// A JSON text, and an action that runs once it was written or the client disconnected: one that ends the server.
    case last([UInt8], then: @Sendable () -> Void)
    case text(String, contentType: String = "text/plain; charset=utf-8")
    /// JSON texts, one per line, sent as they are produced; the task is cancelled when the client stops reading.
    case lines(@Sendable (LineWriter) async -> Void)
    /// Bytes to keep, under that name.
    case download([UInt8], name: String)
    /// A file to keep, under that name.
    case file(path: String, name: String)

    /// A failure in words.
    package static func failure(_ failure: RouteFailure) -> RouteAnswer {
        .json(failure.json, status: failure.status)
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

/// Why a request got nothing: a status of HTTP, a word for scripts, and a sentence for people.
package struct RouteFailure: Error, Hashable, Sendable {
    package var status: Int
    package var code: String
    package var message: String
    /// Further details, such as the name that is taken.
    package var context: [String: String]
    /// The exit code of a command that reports this, if there is one.
    package var exitCode: Int32?

    package init(
        _ status: Int,
        _ code: String,
        _ message: String,
        context: [String: String] = [:],
        exitCode: Int32? = nil
    ) {
        self.exitCode = exitCode
        self.status = status
        self.code = code
        self.message = message
        self.context = context
    }

    private struct Report: Encodable {
        struct Content: Encodable {
            let code: String
            let message: String
            let context: [String: String]
            let exitCode: Int32?
        }

        let error: Content
    }

    /// The object that a program gets: `{"error":{"code":…,"message":…,"context":{},"exitCode":…}}`.
    package var json: [UInt8] {
        ConsoleJSON.bytes(
            Report(error: Report.Content(code: code, message: message, context: context, exitCode: exitCode))
        )
    }
}

/// JSON as the console writes it.
enum ConsoleJSON {
    static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("an answer of ours cannot be written: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
