extension Rules {
    /// The endings of the files whose language is looked at.
    static let proseSuffixes = [".swift", ".c", ".h", ".js", ".py", ".sh", ".md"]

    /// The words that plain technical English does without.
    private static let bannedProse = [
        "whoever", "whomever", "nobody", "somebody", "anybody", "for ever", "in vain", "any more",
        "com(es?|ing) to nothing",
        "com(es?|ing) to (its|their|an) end", "of no use", "so many", "so much", "hears? of", "(is|are) told",
        "let(s|ting)? go of", "beforehand", "all the same", "as it were", "thereof", "wherefore",
    ]

    /// The words with which no documentation comment begins: its subject is a noun, or it begins with a verb.
    private static let openers: Set<Substring> = [
        "What", "Who", "Whom", "Whose", "That", "How", "Where", "When", "Those", "Has", "Had", "Of",
    ]

    /// Whether the words of a file are given: vectors, and the words of recovery phrases.
    static func isQuotation(_ path: String) -> Bool {
        path.contains("Vectors/") || path.hasSuffix("/RecoveryPhrase+Words.swift")
    }

    /// Returns the lines of a comment, a document, the name of a test or a text of the console that are not in plain English.
    static func englishFindings(path: String, text: String) throws -> [Finding] {
        let banned = try pattern("(?i)\\b(" + bannedProse.joined(separator: "|") + ")\\b")
        let isDocument = path.hasSuffix(".md") || path.hasSuffix("/texts.js")
        var findings: [Finding] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " }
            let isComment = ["//", "*", "#", "<!--"].contains { start.hasPrefix($0) }
            if isDocument || isComment || line.contains("@Test") || line.contains("func `"),
                let found = line.firstMatch(of: banned)
            {
                let rule = "\"\(line[found.range])\" is no plain English"
                findings.append(Finding(path: path, line: index + 1, rule: rule))
            }
            guard start.hasPrefix("/// ") else { continue }
            let words = start.dropFirst(4).drop { $0 == " " }
            let first = words.prefix { $0.isLetter }
            if openers.contains(first) || words.hasPrefix("The same ") {
                findings.append(Finding(path: path, line: index + 1, rule: "a comment begins with \"\(first)\""))
            }
        }
        return findings
    }
}
