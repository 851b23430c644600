internal import Algorithms

/// A `runar://` link as mail and chat programs pass it on: in brackets, quotation marks or Markdown, with punctuation or
/// a query behind it, and with invisible characters in it.
///
/// Every kind of link ends with a checksum or a signature, so a link that is cut too early is refused, never misread.
package enum PassedLink {
    /// The beginning of each link.
    static let scheme = "runar://"
    /// The most characters before a link, such as its label in Markdown: behind more of them none is looked for.
    private static let maximumOpeningCount = 256
    /// Zero width joiners: parts of words and emoji elsewhere, but of no link.
    private static let joiners: ClosedRange<Unicode.Scalar> = "\u{200C}"..."\u{200D}"

    /// Returns the link in `text` alone, with a blank for each white space in it; nil if the text is none.
    ///
    /// A link begins where no letter or digit precedes its scheme, and ends before the first character that is not a letter,
    /// a digit, a blank or one of `-_/`. A JSON text is not a link, whatever its members contain.
    package static func link(in text: String) -> String? {
        guard isLink(text) else { return nil }
        let scalars = visible(text.unicodeScalars)
        guard let start = start(in: scalars) else { return nil }
        let content = scalars[start...]
        let end = content.dropFirst(scheme.count).firstIndex { !isInside($0) } ?? content.endIndex
        return String(content[..<end].trimming { $0 == " " })
    }

    /// Whether `text` is a link; of a long text only the part in which a link can begin is examined.
    package static func isLink(_ text: String) -> Bool {
        let content = text.unicodeScalars.drop(while: \.properties.isWhitespace)
        let head = visible(content.prefix(2 * maximumOpeningCount))
        return head.first != "{" && start(in: head) != nil
    }

    /// Returns `text` without the characters that do not show, and with a blank for each white space.
    static func visible(_ text: some Sequence<Unicode.Scalar>) -> String.UnicodeScalarView {
        var scalars = String.UnicodeScalarView()
        for scalar in text {
            if scalar.properties.isWhitespace {
                scalars.append(" ")
            } else if PlainText.isPlain(scalar), !joiners.contains(scalar) {
                scalars.append(scalar)
            }
        }
        return scalars
    }

    /// The place of the scheme among the first characters.
    private static func start(in scalars: String.UnicodeScalarView) -> String.Index? {
        let wanted = Array(scheme.unicodeScalars)
        var before: Unicode.Scalar = " "
        for index in scalars.indices.prefix(2 * maximumOpeningCount) {
            let found = scalars[index...].prefix(wanted.count).map { $0.properties.lowercaseMapping }
            if !isLetterOrDigit(before), found.elementsEqual(wanted.map(String.init)) { return index }
            before = scalars[index]
        }
        return nil
    }

    private static func isInside(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || scalar == " " || scalar == "-" || scalar == "_" || scalar == "/"
    }

    /// Whether a scalar is one in any script: a wrong letter in a link must not end it.
    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
