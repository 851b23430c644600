package import Failures

/// Spans of time as people write them: `30d`, `12h`, `1d12h`, `90s`.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("ms", 1), ("m", 60_000), ("s", 1000),
    ]
    /// A hundred years: longer spans are typing mistakes.
    private static let maximumMilliseconds: Int64 = 36_525 * 86_400_000

    /// Reads numbers with units, the larger unit first or not, each at most once.
    ///
    /// - Throws: ``DurationTextError`` that shows how to write it.
    package static func parse(_ text: String) throws(DurationTextError) -> Duration {
        var rest = Substring(text)
        var total: Int64 = 0
        var seen: Set<String> = []
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int64(digits), let unit = units.first(where: { rest.hasPrefix($0.suffix) }),
                seen.insert(unit.suffix).inserted
            else { throw .notADuration(text) }
            rest = rest.dropFirst(unit.suffix.count)
            let (product, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
            guard !overflow, product <= maximumMilliseconds - total else {
                throw .tooLong(text)
            }
            total += product
        }
        guard !seen.isEmpty else { throw .notADuration(text) }
        return .milliseconds(total)
    }

    /// Writes it with the largest units that leave nothing over.
    package static func text(of duration: Duration) -> String {
        var rest = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        guard rest > 0 else { return "0s" }
        var text = ""
        for (suffix, size) in units.sorted(by: { $0.milliseconds > $1.milliseconds }) where suffix != "w" {
            if rest >= size { text += "\(rest / size)\(suffix)" }
            rest %= size
        }
        return text
    }
}

/// Why a text is no span of time.
package enum DurationTextError: Error, Hashable, Sendable {
    /// It has not the form of one.
    case notADuration(String)
    /// It is longer than a hundred years.
    case tooLong(String)
}

extension DurationTextError: CodedError, CustomStringConvertible {
    package var description: String {
        switch self {
        case .notADuration(let text):
            "\"\(text)\" is not a duration: write a number and a unit, as in 30d, 12h, 90m or 45s"
        case .tooLong(let text): "\"\(text)\" is longer than a hundred years"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-duration", .unknown, .usage) }
}
