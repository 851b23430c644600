internal import Platform

/// The columns that texts take on a terminal.
enum TextColumns {
    /// The columns of a character: two for East Asian wide characters and emoji (UAX #11), else one.
    static func count(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The scalars of the property East Asian Width W or F that are no emoji, in their blocks.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF, 0x1B000...0x1B2FF,
        0x20000...0x3FFFD,
    ]

    static func count(of text: some Sequence<Character>) -> Int { text.reduce(0) { $0 + count(of: $1) } }

    /// Breaks a text into lines of a number of columns, at spaces if possible.
    ///
    /// Control characters are escaped. One character that is wider than a line has a line of its own.
    static func wrap(_ text: String, columns: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap {
            wrapLine(Terminal.escaped($0), columns)
        }
    }

    private static func wrapLine(_ line: String, _ columns: Int) -> [String] {
        var lines: [String] = []
        var (current, width, space): ([Character], Int, Int?) = ([], 0, nil)
        for character in line {
            let own = count(of: character)
            if width + own > columns, !current.isEmpty {
                let rest = space.map { Array(current[($0 + 1)...]) } ?? []
                lines.append(String(space.map { current[..<$0] } ?? current[...]))
                (current, width, space) = (rest, count(of: rest), nil)
            }
            if character == " " { space = current.isEmpty ? nil : current.count }
            current.append(character)
            width += own
        }
        return lines + [String(current)]
    }

    /// Cuts a text to a number of columns.
    static func cut(_ text: String, columns: Int) -> String {
        var (result, width) = ("", 0)
        for character in text {
            width += count(of: character)
            guard width <= columns else { break }
            result.append(character)
        }
        return result
    }
}
