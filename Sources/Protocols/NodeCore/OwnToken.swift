internal import Identity

/// This node's own token of a network, with the times at which it is renewed, and at which its end is announced.
struct OwnToken: Sendable {
    /// The time before the end of a token at which its owner is first warned.
    private static let warningLead: UInt64 = 7 * 86_400
    /// The time between two warnings.
    private static let warningPause: UInt64 = 86_400
    /// The longest time between two rounds of requests for a new token.
    private static let longestPause: UInt64 = 3600

    let token: AccessToken
    /// The time at which this node received it, by the wall clock.
    let obtainedSeconds: UInt64
    /// Whether its expiry was reported; if the clock is set back, it is valid again.
    var isExpired = false
    /// The time of the last round of requests for a new one, by the wall clock.
    private var requestedSeconds: UInt64?
    /// The time of the last warning of its end, by the wall clock.
    private var warnedSeconds: UInt64?

    init(_ token: AccessToken, obtainedSeconds: UInt64) {
        self.token = token
        self.obtainedSeconds = obtainedSeconds
    }

    /// The time after two thirds of the token's lifetime; nil for a token without expiry.
    private var twoThirds: UInt64? {
        token.expirationSeconds.map { end in
            end > obtainedSeconds ? end - (end - obtainedSeconds) / 3 : end
        }
    }

    func isRenewalDue(at seconds: UInt64) -> Bool {
        twoThirds.map { $0 <= seconds } ?? false
    }

    /// The time of the next round of requests to all connected members: the first one at two thirds of the life.
    var renewalSeconds: UInt64? {
        guard let due = twoThirds, let end = token.expirationSeconds else { return nil }
        guard let requested = requestedSeconds else { return due }
        return max(due, requested + min(Self.longestPause, max(10, (end - due) / 16)))
    }

    /// Returns whether a round of requests for a new token is due, which it notes.
    mutating func takeRenewal(at seconds: UInt64) -> Bool {
        guard let due = renewalSeconds, due <= seconds else { return false }
        requestedSeconds = seconds
        return true
    }

    /// Returns the seconds until the token's end if a warning is due, which it notes.
    mutating func takeWarning(at seconds: UInt64) -> UInt64? {
        guard let end = token.expirationSeconds, let start = warningSeconds, start <= seconds else { return nil }
        warnedSeconds = seconds
        return end > seconds ? end - seconds : 0
    }

    /// The time of the next warning.
    var warningSeconds: UInt64? {
        guard let end = token.expirationSeconds else { return nil }
        let start = end > Self.warningLead ? end - Self.warningLead : 0
        return max(start, warnedSeconds.map { $0 + Self.warningPause } ?? 0)
    }
}
