/// Amounts of bytes as people write them: `65536`, `64KiB`, `1MiB`.
package enum ByteCountText {
    private static let units: [(suffix: String, size: Int)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("kB", 1000), ("KB", 1000), ("MB", 1_000_000),
        ("GB", 1_000_000_000), ("B", 1),
    ]

    /// Reads a number with or without a unit.
    ///
    /// - Throws: ``CommandFailure`` that shows how to write it.
    package static func parse(_ text: String) throws(CommandFailure) -> Int {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count)
        guard let number = Int(digits),
            let size = suffix.isEmpty ? 1 : units.first(where: { $0.suffix == suffix })?.size,
            case let (count, overflow) = number.multipliedReportingOverflow(by: size), !overflow
        else {
            throw CommandFailure(
                "bad-size",
                .usage,
                "\"\(text)\" is not a size: write bytes, or a number and KiB or MiB, as in 64KiB"
            )
        }
        return count
    }

    /// Three digits are enough for people: `64.0 MiB`.
    package static func text(of count: Double) -> String {
        for (suffix, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where count >= Double(size) {
            let tenths = Int((count / Double(size) * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) \(suffix)"
        }
        return "\(Int(count)) B"
    }
}
