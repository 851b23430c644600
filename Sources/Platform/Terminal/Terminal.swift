/// Makes text of other people safe to show on a terminal and in logs.
///
/// Control characters can move the cursor, change titles or answer as if typed; bidirectional marks can make a name
/// read as another; invisible characters can make two names look alike. All of them become visible escapes.
package enum Terminal {
    /// `text` with everything invisible or commanding written as an escape such as `\u{1B}`.
    ///
    /// Line ends become `\n` and tabs `\t`, so the result is always one line. At most `limit` characters of the text
    /// are kept, followed by `…` when there was more.
    package static func escaped(_ text: some StringProtocol, limit: Int = .max) -> String {
        var result = ""
        var count = 0
        var isAfterEmoji = false
        for scalar in text.unicodeScalars {
            guard count < limit else { return result + "…" }
            count += 1
            defer { isAfterEmoji = isEmoji(scalar) || (isAfterEmoji && scalar == "\u{FE0F}") }
            switch scalar {
            // The joiner and the variation selector, where they join and select emoji.
            case "\u{200D}" where isAfterEmoji, "\u{FE0F}" where isAfterEmoji: result.unicodeScalars.append(scalar)
            case "\n": result += #"\n"#
            case "\r": result += #"\r"#
            case "\t": result += #"\t"#
            case _ where isHidden(scalar): result += #"\u{"# + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// ``escaped(_:limit:)`` between double quotes.
    package static func quoted(_ text: some StringProtocol) -> String { "\"\(escaped(text))\"" }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0xFF && scalar.properties.isEmoji
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            return true
        case .spaceSeparator:
            return scalar != " "
        default:
            // Letters and marks without a shape: fillers, joiners of graphemes, variation selectors.
            return scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
