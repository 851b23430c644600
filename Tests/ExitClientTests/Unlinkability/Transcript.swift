internal import Bytes
internal import Certificates
internal import Concurrency
internal import HTTPTypes
internal import Identity
internal import Logging
internal import TestSupport

@testable internal import HTTPAPI

/// The requests of clients and the answers to them, as a server sees them, in their order.
final class Transcript: Sendable {
    /// A request and its answer.
    struct Exchange: Sendable {
        /// The time of the server's clock, in seconds since 1970.
        let seconds: UInt64
        let path: String
        let authorization: String
        let request: [UInt8]
        let answer: [UInt8]
        /// The names and values of all fields, and both bodies; see ``Transcript/parts(of:)``.
        let parts: [[UInt8]]
    }

    private let clock: Locked<UInt64>
    private let recorded = Locked<(exchanges: [Exchange], connectionCount: Int)>(([], 0))

    /// Records the times of a clock.
    init(clock: Locked<UInt64>) {
        self.clock = clock
    }

    var exchanges: [Exchange] { recorded.withLock { $0.exchanges } }

    /// The number of connections that clients opened.
    var connectionCount: Int { recorded.withLock { $0.connectionCount } }

    /// Serves routes on 127.0.0.1, and records each exchange; over TLS with a certificate.
    func serve(
        _ routes: [Route],
        _ certificate: CertificateChain?,
        in directory: TemporaryDirectory,
        _ logger: Logger,
        onReady: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        var configuration = HTTPServer.Configuration(
            address: .network(host: "127.0.0.1", port: 0),
            routes: routes.map(recording),
            uploadPrefix: directory.file("upload-"),
            logger: logger
        )
        configuration.certificate = certificate
        configuration.fields = .strict
        configuration.admits = { [recorded] _ in
            recorded.withLock { $0.connectionCount += 1 }
            return true
        }
        try await HTTPServer(configuration).run(onReady: onReady)
    }

    private func recording(_ route: Route) -> Route {
        Route(route.method, route.template, body: route.body, endsWithClient: route.endsWithClient) { [self] request in
            let answer = await route.answer(request)
            let exchange = Self.exchange(route, request, answer, at: clock.withLock { $0 })
            recorded.withLock { $0.exchanges.append(exchange) }
            return answer
        }
    }

    private static func exchange(
        _ route: Route,
        _ request: RouteRequest,
        _ answer: RouteAnswer,
        at seconds: UInt64
    ) -> Exchange {
        let (content, type): ([UInt8], String) =
            switch answer.content {
            case .json(let bytes): (bytes, "application/json")
            case .bytes(let bytes, let type): (bytes, type)
            case .empty, .last, .lines, .download, .file: ([], "")
            }
        let fields = [request.fields, answer.fields, .strict].flatMap(\.http)
            .flatMap { [$0.name.rawName, $0.value] }
        let texts =
            ["\(route.method.rawValue) \(route.template)", request.host ?? "", "\(answer.status)", type] + fields
        let isText = type.hasSuffix("json")
        let bodies = [request.body, content]
        return Exchange(
            seconds: seconds,
            path: route.template,
            authorization: request.fields["Authorization"] ?? "",
            request: request.body,
            answer: content,
            parts: texts.flatMap { parts(of: Array($0.utf8)) } + (isText ? bodies.flatMap(parts) : bodies)
        )
    }

    /// Splits a text at its values in base64, which are decoded: so values are compared in one form.
    ///
    /// Runs of fewer than 40 characters remain text.
    static func parts(of text: [UInt8]) -> [[UInt8]] {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=".utf8)
        var (parts, rest): ([[UInt8]], [UInt8]) = ([], [])
        for run in text[...].runs({ alphabet.contains($0) }) {
            let decoded =
                run.count < 40
                ? nil : try? Base64URL.decode(String(decoding: run, as: UTF8.self), padding: .optional)  // text
            if let decoded {
                parts += [rest, decoded]
                rest = []
            } else {
                rest += run
            }
        }
        return (parts + [rest]).filter { !$0.isEmpty }
    }
}

extension ArraySlice<UInt8> {
    /// Splits the bytes where a condition begins or ends to hold.
    fileprivate func runs(_ condition: (UInt8) -> Bool) -> [ArraySlice<UInt8>] {
        var (runs, start): ([ArraySlice<UInt8>], Int) = ([], startIndex)
        for index in indices.dropFirst() where condition(self[index]) != condition(self[index - 1]) {
            runs.append(self[start..<index])
            start = index
        }
        return isEmpty ? [] : runs + [self[start...]]
    }
}
