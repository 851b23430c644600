internal import Algorithms

/// Texts of others made fit to show: bounded, and without characters that steer a terminal or reorder a line.
///
/// The list of refused characters is fixed here instead of being asked of the system's Unicode tables, because two
/// nodes of different age must agree on whether a signed name is valid.
package enum PlainText {
    private static let excerptCount = 64

    /// Characters that are invisible, control a terminal, or reorder the surrounding text.
    private static let refused: [ClosedRange<UInt32>] = [
        0x0000...0x001F,  // C0 controls
        0x007F...0x009F,  // delete and C1 controls
        0x00AD...0x00AD,  // soft hyphen
        0x061C...0x061C,  // Arabic letter mark
        0x115F...0x1160,  // Hangul fillers
        0x17B4...0x17B5,  // Khmer inherent vowels
        0x180E...0x180E,  // Mongolian vowel separator
        0x200B...0x200B,  // zero width space (the adjacent joiners are part of words and emoji)
        0x200E...0x200F,  // left-to-right and right-to-left mark
        0x2028...0x202E,  // line and paragraph separator, embeddings and overrides
        0x2060...0x206F,  // word joiner, invisible operators, isolates, deprecated controls
        0x3164...0x3164,  // Hangul filler
        0xFEFF...0xFEFF,  // byte order mark
        0xFFA0...0xFFA0,  // half-width Hangul filler
        0xFFF0...0xFFFB,  // reserved, interlinear annotation
        0xFFFE...0xFFFF,  // not characters
        0xE0000...0xE007F,  // tags
    ]

    /// Whether a character shows as itself.
    package static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        !refused.contains { $0.contains(scalar.value) }
    }

    /// `text` without the characters that do not show as themselves.
    package static func kept(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter(isPlain)))
    }

    /// `text` on one line: characters that break or align lines become a blank, and invisible ones are left out.
    package static func line(of text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r", "\u{2028}", "\u{2029}": line.append(" ")
            default: if isPlain(scalar) { line.append(scalar) }
            }
        }
        return String(line)
    }

    /// `text` without the white space around it.
    package static func trimmed(_ text: String) -> String {
        String(text.unicodeScalars.trimming(while: \.properties.isWhitespace))
    }

    /// An excerpt of `text` in quotation marks, with everything that does not plainly show written as `\u{…}`.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            guard index < excerptCount else {
                result += "…"
                break
            }
            if scalar == "\"" || scalar == "\\" || !isPlain(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
