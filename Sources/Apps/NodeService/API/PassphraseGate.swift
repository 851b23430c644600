internal import Concurrency
internal import HTTPAPI

/// Admits one check of a passphrase concurrently: each takes much memory, and many at once would exhaust it.
final class PassphraseGate: Sendable {
    private let isBusy = Locked(false)

    /// - Throws: ``RouteFailure`` while another one is checked, and the error of `body`.
    func work<Result>(_ body: () throws -> Result) throws -> Result {
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else {
            throw RouteFailure(503, "busy", "another passphrase is being checked: try again in a moment")
        }
        defer { isBusy.withLock { $0 = false } }
        return try body()
    }
}
