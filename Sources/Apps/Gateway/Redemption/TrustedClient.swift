internal import BlindTokens
internal import CommandModel
internal import Concurrency
internal import HTTPAPI
internal import Logging
internal import Platform
internal import TLSChannel
internal import WebClient

/// A web client that trusts the authorities in a file, which it reads again when the file changes.
final class TrustedClient: Sendable {
    private struct State: Sendable {
        var client: WebClient
        var files: WatchedFiles
    }

    private let trust: String?
    private let requestLimit: Duration
    private let logger: Logger
    private let state: Locked<State>

    /// Trusts the authorities in the file `trust`, or those of the system; a request may take `requestLimit`.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``, ``WebClientError``.
    init(trust: String?, logger: Logger, requestLimit: Duration = .seconds(10)) throws {
        self.trust = trust
        self.requestLimit = requestLimit
        self.logger = logger
        let files = WatchedFiles(trust.map { [$0] } ?? [])
        state = Locked(State(client: try Self.client(trust, requestLimit), files: files))
    }

    private static func client(_ trust: String?, _ requestLimit: Duration) throws -> WebClient {
        var configuration = WebClient.Configuration()
        if let trust { configuration.trust = .roots(pem: try text(of: trust)) }
        configuration.requestLimit = requestLimit
        configuration.bodyByteLimit = IssuerDirectory.byteLimit
        return try WebClient(configuration)
    }

    private static func text(of path: String) throws -> String {
        guard let bytes = try AtomicFile.read(named: path, limit: TLSTrust.maximumTextByteCount) else {
            throw CommandFailure("no-certificate-file", .noInput, "\(path) does not exist: check the path")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends a request, and returns the response of any status.
    func send(_ request: WebRequest) async throws(WebClientError) -> WebResponse { try await present().send(request) }

    /// The client with the authorities that the file has now.
    private func present() -> WebClient {
        state.withLock { state in
            var fresh: WebClient?
            state.files.takeOver(logging: logger) { fresh = try Self.client(trust, requestLimit) }
            // Requests under way finish with the former client, whose idle connections are not used again.
            if let fresh { state.client = fresh }
            return state.client
        }
    }

    func close() { state.withLock { $0.client }.close() }
}
