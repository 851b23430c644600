internal import Concurrency
internal import Services
internal import Transport

/// The bytes of responses to one peer that wait until the peer takes earlier ones, over all its connections, bounded.
///
/// The transport bounds the queue of a connection and suspends writers; this bounds the bytes that those writers hold. While
/// a quarter of it is used no further handler begins, so that a slow peer is served at its own pace. Responses of handlers
/// that had begun and find no room fail.
final class ResponseRoom: Sendable {
    private let byteLimit: Int
    private let held = Locked(0)
    private let signal = ConditionVariable()

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The bytes that are held now.
    var heldBytes: Int { held.withLock { $0 } }

    /// The number of handlers that wait for room.
    var waiterCount: Int { signal.waiterCount }

    private var admissionLimit: Int { byteLimit / 4 }

    /// Waits until a handler may begin.
    ///
    /// - Throws: `CancellationError` when cancelled.
    func waitForRoom() async throws {
        try await signal.wait { held.withLock { $0 } <= admissionLimit ? () : nil }
    }

    /// Holds `count` bytes while `write` runs.
    ///
    /// - Throws: ``ServiceFailure`` when there is no room; the error of `write`.
    func hold(_ count: Int, while write: () async throws -> Void) async throws {
        let hasRoom = held.withLock { held in
            guard count <= byteLimit - held else { return false }
            held += count
            return true
        }
        guard hasRoom else {
            throw ServiceFailure(
                kind: .tooLarge,
                message: "no room for the response: too many others wait to be received; ask again when they are"
            )
        }
        defer { giveBack(count) }
        try await write()
    }

    private func giveBack(_ count: Int) {
        let isDrained = held.withLock { held in
            let wasFull = held > admissionLimit
            held -= count
            return wasFull && held <= admissionLimit
        }
        if isDrained { signal.broadcast() }
    }
}
