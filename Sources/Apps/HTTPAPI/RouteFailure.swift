internal import Foundation

/// The reason why a request failed: a status of HTTP, a word for programs, and a sentence for people.
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

    /// The failure of a request to a path that no route has.
    package static var noRoute: RouteFailure { RouteFailure(404, "no-such-path", "there is nothing at this path") }

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
        JSONBody.bytes(
            Report(error: Report.Content(code: code, message: message, context: context, exitCode: exitCode))
        )
    }
}

/// JSON as a server writes it.
package enum JSONBody {
    package static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("an answer of ours cannot be written: \(error)")
        }
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
