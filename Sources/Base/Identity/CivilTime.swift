/// A second since 1970 as people write it, in UTC: `2030-03-17 17:46:40 UTC`.
package struct CivilTime: CustomStringConvertible, Sendable {
    private let seconds: UInt64

    package init(seconds: UInt64) {
        self.seconds = min(seconds, UnixTime.maximum)
    }

    package var description: String {
        let (year, month, day) = Self.date(daysSince1970: Int(seconds / 86_400))
        let rest = Int(seconds % 86_400)
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2)) \(time) UTC"
    }

    /// Counts in eras of 400 years that begin on 1 March, so that the leap day is the last day of a year.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let daysPerEra = 146_097
        let days = daysSince1970 + 719_468
        let dayOfEra = days % daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = days / daysPerEra * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
