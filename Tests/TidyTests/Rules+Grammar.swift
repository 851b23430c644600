internal import Foundation

extension Rules {
    /// The number of comments in `Sources` whose grammar a technical writer would not use.
    ///
    /// It only falls: a commit that rewrites comments lowers it.
    static let oddComments = 26

    /// The patterns of such grammar.
    private static let oddGrammar = [
        // A free relative in place of a noun: "the fields of a request", not a clause.
        "(^|[,;:(] ?|\\b(and|of|for|with|in|to|that|as|than|by|from) )what "
            + "(is|was|it|they|this|the|a|an|others?|comes|came|waits|happens|happened|there|we|one)\\b",
        // Programs that talk: they return, report, log, state or receive.
        "\\b(tells?|told|says?|said|knows? of)\\b",
        // Vague endings and places: it has ended, exists, is available, was removed.
        "\\b(is|are|was|were) over\\b", "\\b(is|are|was|were) there\\b(?! (a|an|no|is|are)\\b)", "\\bno longer here\\b",
        // Verbs with a particle: it continues, fails, performs, ensures, arrives, leaves, participates, blocks.
        "\\b(goes|go|went|going) on\\b",
        "\\b(sees? to it|gives? up|given up|carr(y|ies|ied) out|takes? part|holds? up|put back|stays? out)\\b",
        "\\b(comes? in|goes? out)\\b",
        // Duties: it must.
        "\\b(is|are) to (be|say|get|have|go)\\b",
        // Words of place and number: next to, besides, in total.
        "\\bbeside\\b", "\\bin all\\b",
    ]

    /// Returns the lines of Swift or C whose `//` comment has odd grammar.
    static func grammarFindings(path: String, lines: [String]) throws -> [Finding] {
        let odd = try LinePattern("(?i)" + oddGrammar.joined(separator: "|"))
        return lines.enumerated().compactMap { index, line in
            guard let comment = comment(in: line), let found = odd.firstMatch(in: comment) else { return nil }
            return Finding(path: path, line: index + 1, rule: "\"\(found)\" is odd grammar")
        }
    }

    /// Returns the text of the `//` comment in a line without an address of the web, or nil if it has none.
    private static func comment(in line: String) -> Substring? {
        let (slash, bytes) = (UInt8(ascii: "/"), line.utf8)
        guard let first = bytes.firstIndex(of: slash), let mark = line[first...].range(of: "//"),
            !line.contains("://"), line[..<mark.lowerBound].last?.isWhitespace ?? true
        else { return nil }
        return line[mark.upperBound...].drop { $0 == "/" }.drop { $0 == " " }
    }
}
