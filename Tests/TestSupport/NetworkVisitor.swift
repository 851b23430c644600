internal import Foundation

/// A device of the local network that visits the console with Python's TLS (Tests/Interop/visit_network_console.py).
package final class NetworkVisitor: Sendable {
    package static let missing = PythonScripts.missing(for: script, otherwise: "the console is not visited over TLS")
    private static let script = "visit_network_console.py"

    /// The fields of the certificate, as an independent reader decodes them.
    package struct Certificate: Decodable, Sendable {
        package let curve: String
        package let hash: String
        package let addresses: [String]
        package let names: [String]
        package let uses: [String]
        package let signs: Bool
        package let signsCertificates: Bool
        package let serialBits: Int
        package let days: Int
        package let end: UInt64
        package let fingerprint: String
    }

    private struct Version: Decodable {
        let spoken: String?
    }

    private struct Held: Decodable {
        let held: Bool
    }

    private struct Raw: Decodable {
        let answer: String
    }

    private let process: ChildProcess
    private let host: String
    private let port: UInt16
    private let token: String

    package init(_ port: UInt16, at host: String = "127.0.0.1", token: String) throws {
        self.token = token
        process = try ChildProcess(script: Self.script, arguments: ["run"], takesLines: true)
        self.host = host
        self.port = port
    }

    deinit { process.send(SIGKILL) }

    /// The host and port by which this visitor addresses the server.
    package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package func fetch(_ entry: ConsoleVisitor.Request) async throws -> ConsoleVisitor.Answer {
        try await tell(
            [
                "do": "ask", "method": entry.method, "path": entry.path, "headers": entry.headers,
                "body": entry.body as Any? ?? NSNull(),
            ],
            ConsoleVisitor.Answer.self
        )
    }

    /// Asks with the visitor's token, by a host's name if not by the right one, and returns the status.
    package func status(
        _ path: String,
        method: String = "GET",
        host: String? = nil,
        more: [[String]] = []
    ) async throws -> Int {
        let fields = [["Host", host ?? authority], ["Authorization", "Bearer \(token)"]]
        return try await fetch(.init(method, path, fields + more)).status
    }

    /// The version of TLS that is spoken when only this one is offered; nil when it is refused.
    package func spoken(_ version: String) async throws -> String? {
        try await tell(["do": "version", "version": version], Version.self).spoken
    }

    package func certificate() async throws -> Certificate { try await tell(["do": "certificate"], Certificate.self) }

    /// Sends bytes on a plain connection and returns the answer.
    package func raw(_ bytes: [UInt8]) async throws -> String {
        try await tell(["do": "raw", "bytes": Self.digits(bytes)], Raw.self).answer
    }

    /// Keeps a connection, `plain`, `tls` or `mute`.
    package func hold(_ bytes: [UInt8], _ how: String) async throws {
        _ = try await tell(["do": "hold", "how": how, "bytes": Self.digits(bytes)], Held.self)
    }

    /// Waits until a held connection is closed by the other side, and returns the received bytes without the first one.
    package func end() async throws -> String { try await tell(["do": "end"], Raw.self).answer }

    private func tell<Answer: Decodable & Sendable>(
        _ order: [String: Any],
        _ type: Answer.Type
    ) async throws -> Answer {
        let whole = order.merging(["host": host, "port": Int(port)]) { first, _ in first }
        let line = String(decoding: try JSONSerialization.data(withJSONObject: whole), as: UTF8.self)
        return try await aside { [process] in
            try process.write(line)
            return try JSONDecoder().decode(Answer.self, from: Data((process.nextLine() ?? "").utf8))
        }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
