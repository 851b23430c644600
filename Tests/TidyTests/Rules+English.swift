extension Rules {
    /// The endings of the checked files.
    static let proseSuffixes = [".swift", ".c", ".h", ".js", ".py", ".sh", ".md", "/openapi.json", "Makefile"]

    /// The endings of the files of which every line is prose.
    private static let documentSuffixes = [".md", "/texts.js", "/openapi.json", "Makefile"]

    /// The words that plain technical English does without.
    private static let bannedProse = [
        "whoever", "whomever", "nobody", "somebody", "anybody", "for ever", "in vain", "any more",
        "com(es?|ing) to nothing",
        "com(es?|ing) to (its|their|an) end", "of no use", "so many", "so much", "hears? of", "(is|are) told",
        "let(s|ting)? go of", "beforehand", "all the same", "as it were", "thereof", "wherefore",
    ]

    /// The further words that no text of the command, the node or the libraries uses.
    ///
    /// The texts of the console may use them for people.
    private static let bannedInLiterals = [
        "whom", "everybody", "(gives?|given|gave) up", "knows? of", "beside", "stands? for", "at a time",
        "came to nothing",
    ]

    /// The words with which no documentation comment begins: its subject is a noun, or it begins with a verb.
    private static let openers: Set<Substring> = [
        "What", "Who", "Whom", "Whose", "That", "How", "Where", "When", "Those", "Has", "Had", "Of",
    ]

    /// Whether the words of a file are given: vectors, and the words of recovery phrases.
    static func isQuotation(_ path: String) -> Bool {
        path.contains("Vectors/") || path.hasSuffix("/RecoveryPhrase+Words.swift")
    }

    /// Whether every line of a file is prose, as in documents, texts of the console and descriptions of interfaces.
    private static func isDocument(_ path: String) -> Bool {
        documentSuffixes.contains { path.hasSuffix($0) } || path.hasPrefix("Sources/Apps/CRunar/include/")
    }

    private static func wordPattern(_ words: [String]) throws -> LinePattern {
        try LinePattern("(?i)\\b(" + words.joined(separator: "|") + ")\\b")
    }

    /// Returns the lines of comments, documents, names of tests and texts of programs that are not in plain English.
    static func englishFindings(path: String, text: String) throws -> [Finding] {
        let banned = try wordPattern(bannedProse)
        let bannedInText = try wordPattern(bannedProse + bannedInLiterals)
        let isProse = isDocument(path)
        let source =
            path.hasPrefix("Sources/") && path.hasSuffix(".swift") ? SourceText(path: path, text: text) : nil
        var findings: [Finding] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " }
            let isComment = ["//", "*", "#", "<!--"].contains { start.hasPrefix($0) }
            if isProse || isComment || line.contains("@Test") || line.contains("func `"),
                let found = banned.firstMatch(in: line)
            {
                let rule = "\"\(found)\" is no plain English"
                findings.append(Finding(path: path, line: index + 1, rule: rule))
            }
            if let literals = source?.literals(line: index), let found = bannedInText.firstMatch(in: literals) {
                let rule = "\"\(found)\" is no plain English for a text of the program"
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
