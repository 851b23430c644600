/// The constants of the WireGuard paper, section 6.1.
package enum Constants {
    /// The messages that one key sends before its sender begins a new handshake.
    package static let rekeyAfterMessages: UInt64 = 1 << 60
    /// The messages after which a key is no longer used.
    package static let rejectAfterMessages: UInt64 = .max - (1 << 13)
    /// The age at which the initiator of a session begins a new handshake when it sends.
    package static let rekeyAfterTime = Duration.seconds(120)
    /// The age at which a session is neither sent nor received with.
    package static let rejectAfterTime = Duration.seconds(180)
    /// The time after which unanswered initiations are no longer repeated.
    package static let rekeyAttemptTime = Duration.seconds(90)
    /// The shortest time between two initiations for one peer.
    package static let rekeyTimeout = Duration.seconds(5)
    /// The most that is added, at random, to the time until an initiation is repeated.
    package static let rekeyJitterMilliseconds = 333
    /// The time after which received data is acknowledged by an empty packet if no packet was sent meanwhile.
    package static let keepaliveTimeout = Duration.seconds(10)
    /// The lifetime of a cookie, and of the secret from which cookies are computed.
    package static let cookieLifetime = Duration.seconds(120)
    /// The part of a cookie's lifetime that is left to the network: a sender uses a cookie for this much less.
    package static let cookieLatency = Duration.seconds(5)
    /// The shortest time between two initiations of one peer that are processed.
    package static let initiationInterval = Duration.milliseconds(20)
}
