internal import Concurrency
internal import Foundation

/// A program that asks a console over HTTP and reads metrics with Prometheus' own parser (Tests/Interop/ask_console.py).
package enum ConsoleVisitor {
    /// The console's answer to a request.
    package struct Answer: Decodable, Sendable {
        package let status: Int
        /// By their names in lower case.
        package let headers: [String: String]
        /// As it was before gzip.
        package let body: String
        /// The length of the raw body.
        package let length: Int
    }

    /// The bytes that a connection received for raw bytes.
    private struct RawAnswer: Decodable {
        let answer: String
    }

    /// A name and everything that is known of it.
    package struct Family: Decodable, Sendable {
        /// Without `_total`.
        package let name: String
        package let type: String
        package let help: String
        package let samples: [Sample]

        /// The values of the samples of that name, whatever their labels are.
        package func values(_ name: String) -> [Double] { samples.filter { $0.name == name }.map(\.value) }
    }

    /// A line.
    package struct Sample: Decodable, Sendable {
        package let name: String
        package let labels: [String: String]
        package let value: Double

        package init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            name = try list.decode(String.self)
            labels = try list.decode([String: String].self)
            value = try list.decode(Double.self)
        }
    }

    /// The reason why the script cannot run, or an empty string if it can.
    package static let missing = PythonScripts.missing(for: script, otherwise: "the console is not asked")
    private static let script = "ask_console.py"

    /// A request.
    package struct Request: Sendable {
        package let method: String
        package let path: String
        package let headers: [[String]]
        package let body: String?

        package init(_ method: String, _ path: String, _ headers: [[String]], body: String? = nil) {
            self.method = method
            self.path = path
            self.headers = headers
            self.body = body
        }
    }

    /// Asks one request after the other.
    package static func fetch(_ port: UInt16, _ requests: [Request]) async throws -> [Answer] {
        try await aside {
            let process = try ChildProcess(script: script, arguments: ["ask", "\(port)"], takesLines: true)
            return try requests.map { entry in
                var request: [String: Any] = [
                    "method": entry.method, "path": entry.path, "headers": entry.headers,
                ]
                request["body"] = entry.body
                let line = try JSONSerialization.data(withJSONObject: request)
                try process.write(String(decoding: line, as: UTF8.self))
                return try JSONDecoder().decode(Answer.self, from: Data((process.nextLine() ?? "").utf8))
            }
        }
    }

    /// Asks requests without a body.
    package static func fetch(
        _ port: UInt16,
        _ requests: [(method: String, path: String, headers: [[String]])]
    ) async throws -> [Answer] {
        try await fetch(port, requests.map { Request($0.method, $0.path, $0.headers) })
    }

    /// Sends bytes, each on a connection of its own, and returns the first lines of the answers.
    package static func send(_ port: UInt16, _ messages: [[UInt8]]) async throws -> [String] {
        try await exchange(port, messages).map { String($0.prefix { $0 != "\r\n" }) }
    }

    /// Sends bytes, each on a connection of its own, and returns everything received until the other side closes it.
    package static func exchange(_ port: UInt16, _ messages: [[UInt8]]) async throws -> [String] {
        try await aside {
            let process = try ChildProcess(script: script, arguments: ["raw", "\(port)"], takesLines: true)
            return try messages.map { message in
                try process.write(message.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
                return try JSONDecoder().decode(RawAnswer.self, from: Data((process.nextLine() ?? "").utf8)).answer
            }
        }
    }

    /// Connections that stay open in every case.
    package final class Connections: Sendable {
        private struct News: Decodable {
            var line: String?
            var end: String?
            var held: Bool?
        }

        private let process: ChildProcess
        /// The news that no call has waited for yet.
        private let early = Locked<[News]>([])

        package init(_ port: UInt16) throws {
            process = try ChildProcess(script: ConsoleVisitor.script, arguments: ["hold", "\(port)"], takesLines: true)
        }

        deinit { process.send(SIGKILL) }

        /// Sends bytes on a connection of their own, which is not closed from this side.
        package func hold(_ bytes: [UInt8], reading: Bool = true) async throws {
            try await tell(bytes, reading ? "read" : "mute")
            _ = try await next { $0.held }
        }

        /// Sends further bytes on the connection that is held last.
        package func add(_ bytes: [UInt8]) async throws { try await tell(bytes, "more") }

        /// Sends bytes, waits for the first line of the answer's body and disconnects.
        package func readLine(after bytes: [UInt8]) async throws -> String? {
            try await tell(bytes, "leave")
            return try await next { $0.line }
        }

        /// Waits until the body of a held connection has begun.
        package func waitForLine() async throws { _ = try await next { $0.line } }

        /// Waits until a held connection is closed by the other side, and returns the first line received.
        package func end() async throws -> String? { try await next { $0.end } }

        private func tell(_ bytes: [UInt8], _ how: String) async throws {
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            try await aside { [process] in try process.write(#"{"bytes":"\#(digits)","how":"\#(how)"}"#) }
        }

        private func next<Value: Sendable>(_ kind: @Sendable @escaping (News) -> Value?) async throws -> Value? {
            let known = early.withLock { early in
                early.firstIndex { kind($0) != nil }.map { early.remove(at: $0) }
            }
            if let known { return kind(known) }
            return try await aside { [process, early] in
                while let line = process.nextLine() {
                    let news = try JSONDecoder().decode(News.self, from: Data(line.utf8))
                    if let found = kind(news) { return found }
                    early.withLock { $0.append(news) }
                }
                return nil
            }
        }
    }

    /// The clients of ``storm(_:while:)``.
    package struct Storm: Sendable {
        fileprivate struct News: Decodable {
            let connections: Int
        }

        fileprivate let process: ChildProcess

        /// Waits until `count` further connections were taken.
        package func waitForConnections(_ count: Int) async throws {
            try await aside { [process] in
                try process.write("\(count)")
                _ = try Self.news(process.nextLine())
            }
        }

        fileprivate static func news(_ line: String?) throws -> News {
            try JSONDecoder().decode(News.self, from: Data((line ?? "").utf8))
        }
    }

    /// Connects again and again while `body` runs, and returns how many connections were taken.
    package static func storm(_ port: UInt16, while body: (Storm) async throws -> Void) async throws -> Int {
        let process = try ChildProcess(script: script, arguments: ["storm", "\(port)"], takesLines: true)
        // Its threads run.
        _ = try await aside { process.nextLine() }
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(Storm(process: process))) } catch { outcome = .failure(error) }
        return try await aside {
            try process.endInput()
            let line = process.nextLine()
            try outcome.get()
            return try Storm.news(line).connections
        }
    }

    /// Everything that is measured, by names.
    package static func metrics(_ port: UInt16, token: String) async throws -> [String: Family] {
        try await aside {
            let process = try ChildProcess(script: script, arguments: ["read", "\(port)", token])
            var families: [String: Family] = [:]
            while let line = process.nextLine(), !line.isEmpty {
                let family = try JSONDecoder().decode(Family.self, from: Data(line.utf8))
                families[family.name] = family
            }
            guard process.waitUntilExit() == 0 else { throw CocoaError(.fileReadCorruptFile) }
            return families
        }
    }
}
