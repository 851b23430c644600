internal import Foundation
internal import Identity

/// A time as people read it at this place, in the time zone of the process: `2030-03-17 18:46:40`.
///
/// Texts that leave the device, such as reasons for a refused token, have `CivilTime` in UTC instead.
package struct LocalTime: CustomStringConvertible, Sendable {
    /// The year, month and day.
    package let day: String
    /// The hour and minute.
    package let clock: String
    private let second: String

    package init(seconds: UInt64) { self.init(seconds: seconds, in: .current) }

    init(seconds: UInt64, in zone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: UnixTime.date(min(seconds, UnixTime.maximum))
        )
        day = [Self.padded(parts.year, 4), Self.padded(parts.month), Self.padded(parts.day)].joined(separator: "-")
        clock = [Self.padded(parts.hour), Self.padded(parts.minute)].joined(separator: ":")
        second = Self.padded(parts.second)
    }

    package var description: String { "\(day) \(clock):\(second)" }

    private static func padded(_ number: Int?, _ width: Int = 2) -> String {
        let digits = "\(number ?? 0)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
