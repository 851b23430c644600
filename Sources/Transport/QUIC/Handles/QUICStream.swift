internal import Transport

/// A stream of a ``QUICConnection``.
///
/// Releasing it before its end resets it.
final class QUICStream: Stream {
    let core: StreamCore
    /// Keeps the connection open as long as one of its streams is in use.
    private let connection: QUICConnection

    init(core: StreamCore, connection: QUICConnection) {
        self.core = core
        self.connection = connection
    }

    deinit {
        core.abandon()
    }

    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool) {
        try await core.read(atMost: maximum)
    }

    func write(_ bytes: [UInt8], finish: Bool) async throws {
        try await core.write(bytes, finish: finish)
    }

    func delivered() async throws {
        try await core.delivered()
    }

    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?) {
        core.whenStopped(handler)
    }

    func reset(code: UInt64) {
        core.reset(code: code)
    }
}
