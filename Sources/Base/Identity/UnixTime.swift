package import Essentials

/// Wall-clock times as whole seconds since 1970, the only form that is signed.
package enum UnixTime {
    /// The last second of the year 9999.
    package static let maximum: UInt64 = 253_402_300_799
    /// The most by which two honest clocks may disagree before an expiry counts.
    package static let graceSeconds: UInt64 = 60

    /// The whole seconds of `date`, rounded down; a fraction would not survive being written as text.
    package static func seconds(of date: Date) throws(IdentityError) -> UInt64 {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard seconds >= 0, seconds <= Double(maximum) else { throw .expirationOutOfRange }
        return UInt64(seconds)
    }

    /// Returns the whole seconds of "now", where a clock outside the range counts as standing at its end.
    package static func clampedSeconds(of date: Date) -> UInt64 {
        let seconds = date.timeIntervalSince1970
        guard seconds > 0 else { return 0 }
        return seconds < Double(maximum) ? UInt64(seconds) : maximum
    }

    /// Returns the moment `seconds` after `now`, where one beyond the range counts as its end.
    package static func date(_ seconds: UInt64, after now: UInt64) -> Date {
        date(min(now, maximum) + min(seconds, maximum - min(now, maximum)))
    }

    /// The moment at which `seconds` begins.
    package static func date(_ seconds: UInt64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// Whether something that expires at `expiration` no longer counts at `now`, with the grace for clocks.
    package static func isPast(_ expiration: UInt64, at now: UInt64) -> Bool {
        now > graceSeconds && now - graceSeconds > expiration
    }
}
