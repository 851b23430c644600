internal import Concurrency
internal import Console

/// Lets one passphrase be tried at a time: a guess costs memory, and many at once would cost it all.
final class PassphraseGate: Sendable {
    private let isBusy = Locked(false)

    /// - Throws: ``ConsoleFailure`` while another one is tried, and what `body` throws.
    func work<Result>(_ body: () throws -> Result) throws -> Result {
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else {
            throw ConsoleFailure(503, "busy", "another passphrase is being checked: try again in a moment")
        }
        defer { isBusy.withLock { $0 = false } }
        return try body()
    }
}
