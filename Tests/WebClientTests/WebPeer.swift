internal import Concurrency
internal import Foundation
internal import TLSChannel
internal import TestSupport
internal import WebClient

/// Web servers, certificates and clients that are not ours (Tests/Interop/web_peer.py), in one process for all tests.
final class WebPeer: Sendable {
    static let missing = PythonScripts.missing(for: script, otherwise: "no web server is visited")
    private static let script = "web_peer.py"
    private static let started = Result { try WebPeer() }

    /// The certificates, by their names.
    struct Facts: Decodable, Sendable {
        let folder: String
        let pins: [String: String]
        let starts: [String: UInt64]
        let ends: [String: UInt64]
    }

    struct Output: Decodable, Sendable {
        let status: Int
        let output: String
    }

    /// A server of the peer.
    struct Server: Sendable {
        let peer: WebPeer
        let port: UInt16

        /// The events until now.
        func events() async throws -> [String] {
            try await peer.tell(["do": "events", "port": Int(port)], Events.self).events
        }

        /// Waits until an event has occurred `count` times, and returns the events until then.
        @discardableResult
        func wait(for event: String, count: Int = 1) async throws -> [String] {
            let order: [String: Any] = ["do": "wait", "port": Int(port), "event": event, "count": count]
            return try await peer.tell(order, Events.self).events
        }

        /// Lets requests to `/wait` continue.
        func release() async throws { _ = try await peer.tell(["do": "release", "port": Int(port)], Empty.self) }

        func url(_ target: String, host: String = "localhost") throws -> WebURL {
            try WebURL("https://\(host):\(port)\(target)")
        }

        func plainURL(_ target: String, host: String = "127.0.0.1") throws -> WebURL {
            try WebURL("http://\(host):\(port)\(target)")
        }
    }

    private struct Events: Decodable { let events: [String] }
    private struct Empty: Decodable {}
    private struct Port: Decodable { let port: UInt16 }

    private let process: ChildProcess
    private let turn = AsyncMutex()
    let facts: Facts

    private init() throws {
        process = try ChildProcess(script: Self.script, arguments: ["run"], takesLines: true)
        try process.write("{\"do\": \"facts\"}")
        facts = try JSONDecoder().decode(Facts.self, from: Data((process.nextLine() ?? "").utf8))
    }

    /// The process of all tests.
    static func shared() async throws -> WebPeer { try await aside { try started.get() } }

    /// The text of a file with certificates or a key.
    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(facts.folder)/\(name).pem")), as: UTF8.self)
    }

    /// Starts Python's http.server, over TLS with a named chain.
    func serve(
        tls: String? = nil,
        version: String? = nil,
        ciphers: String? = nil,
        host: String = "127.0.0.1"
    ) async throws -> Server {
        let order: [String: Any] = [
            "do": "serve", "tls": tls as Any? ?? NSNull(), "version": version as Any? ?? NSNull(),
            "ciphers": ciphers as Any? ?? NSNull(), "host": host,
        ]
        return Server(peer: self, port: try await tell(order, Port.self).port)
    }

    /// Starts a server that does the same steps on every connection: texts, `head`, `hold` or `close`.
    func raw(_ steps: [Step], tls: String? = nil) async throws -> Server {
        let order: [String: Any] = ["do": "raw", "tls": tls as Any? ?? NSNull(), "steps": steps.map(\.json)]
        return Server(peer: self, port: try await tell(order, Port.self).port)
    }

    enum Step {
        case head, hold, close
        case text(String, times: Int = 1)

        fileprivate var json: Any {
            switch self {
            case .head: "head"
            case .hold: "hold"
            case .close: "close"
            case .text(let text, let count): [text, count] as [Any]
            }
        }
    }

    /// Starts `openssl s_server`.
    func openssl(version: String) async throws -> Server {
        let order: [String: Any] = ["do": "openssl", "version": version, "port": QuietPort.next()]
        return Server(peer: self, port: try await tell(order, Port.self).port)
    }

    /// Runs a program that is found by its name.
    func run(_ words: [String]) async throws -> Output {
        try await tell(["do": "program", "words": words], Output.self)
    }

    /// A client that trusts the root of the certificates alone.
    func client(_ change: (inout WebClient.Configuration) throws -> Void = { _ in }) throws -> WebClient {
        var configuration = WebClient.Configuration()
        configuration.trust = .roots(pem: try text("root"))
        try change(&configuration)
        return try WebClient(configuration)
    }

    private func tell<Answer: Decodable & Sendable>(
        _ order: [String: Any],
        _ type: Answer.Type
    ) async throws -> Answer {
        let line = String(decoding: try JSONSerialization.data(withJSONObject: order), as: UTF8.self)
        return try await turn.withLock { [process] in
            try await aside {
                try process.write(line)
                return try JSONDecoder().decode(Answer.self, from: Data((process.nextLine() ?? "").utf8))
            }
        }
    }
}
