internal import Foundation

extension Rules {
    /// The targets of links in a Markdown text that lead to files, relative to the root of the package.
    static func linkFindings(path: String, text: String, exists: (String) -> Bool) -> [Finding] {
        let pattern = /\]\(([^)\s]+)\)/
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        return proseLines(of: text).flatMap { index, line in
            line.matches(of: pattern).compactMap { match -> Finding? in
                let target = String(match.1)
                guard !target.contains("://"), !target.hasPrefix("#"), !target.hasPrefix("mailto:") else { return nil }
                let file = target.split(separator: "#").first.map(String.init) ?? target
                guard !exists(normalized(file, in: folder)) else { return nil }
                return Finding(path: path, line: index + 1, rule: "the link to \(target) leads nowhere")
            }
        }
    }

    /// Documents that a text names by their path from the root, such as a specification in a comment.
    static func mentionFindings(path: String, text: String, exists: (String) -> Bool) -> [Finding] {
        let pattern = /\bdocs\/[\w.\/-]+\.md\b/
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            line.matches(of: pattern).map { String($0.0) }.filter { !exists($0) }
                .map { Finding(path: path, line: index + 1, rule: "there is no \($0)") }
        }
    }

    /// `make` targets that a document names and the Makefile lacks.
    static func makeTargetFindings(path: String, text: String, targets: Set<String>) -> [Finding] {
        let inCode = /(?:^|[`$]|&& ) *(?:sudo )?make ([a-z][a-z0-9-]*)/
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            line.matches(of: inCode).map { String($0.1) }.filter { !targets.contains($0) }
                .map { Finding(path: path, line: index + 1, rule: "there is no `make \($0)`") }
        }
    }

    /// The fenced code blocks of a language in a Markdown text.
    static func codeBlocks(of language: String, in text: String) -> [String] {
        var blocks: [String] = []
        var lines: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let block = lines, line == "```" {
                blocks.append(block.joined(separator: "\n"))
                lines = nil
            } else if lines != nil {
                lines?.append(line)
            } else if line == "```\(language)" {
                lines = []
            }
        }
        return blocks
    }

    /// Whether `excerpt` has whole lines of `text`, without a gap; their indentation may differ.
    static func isExcerpt(_ excerpt: String, of text: String) -> Bool {
        let part = unindented(excerpt)
        return part.contains { !$0.isWhitespace } && unindented(text).contains(part)
    }

    /// The lines of a text without the spaces around them, each between two line feeds.
    private static func unindented(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return "\n" + lines.joined(separator: "\n") + "\n"
    }

    /// The cells below a heading that begins with `title`, of every table of a page that has it.
    static func column(_ title: String, of text: String) -> [String] {
        var index: Int?
        var cells: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let row = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|") else {
                index = nil
                continue
            }
            if let index, index < row.count {
                if !row[index].hasPrefix("-") { cells.append(row[index]) }
            } else {
                index = row.firstIndex { $0.hasPrefix(title) }
            }
        }
        return cells
    }

    /// Returns the texts between grave accents.
    static func quoted(in texts: [String]) -> [String] {
        texts.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
    }

    /// The names of the tests in these sources, and of the scenarios that several suites run.
    static func testNames(in sources: [SourceText]) -> Set<String> {
        let beginnings = [("func `", "`"), ("Scenario(\"", "\"")]
        return Set(
            sources.flatMap(\.lines).flatMap { line in
                beginnings.compactMap { beginning, end in
                    line.range(of: beginning).map { line[$0.upperBound...].components(separatedBy: end)[0] }
                }
            }
        )
    }

    /// The targets of a Makefile.
    static func makeTargets(in text: String) -> Set<String> {
        Set(text.matches(of: /(?m)^([a-z][a-z0-9-]*):/).map { String($0.1) })
    }

    /// The lines outside fenced code, with their numbers.
    private static func proseLines(of text: String) -> [(Int, Substring)] {
        var isCode = false
        var prose: [(Int, Substring)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                prose.append((index, line))
            }
        }
        return prose
    }

    /// A link's path seen from the root.
    private static func normalized(_ link: String, in folder: String) -> String {
        var parts = link.hasPrefix("/") ? [] : folder.split(separator: "/").map(String.init)
        for part in link.split(separator: "/").map(String.init) where part != "." {
            if part == ".." {
                if !parts.isEmpty { parts.removeLast() }
            } else {
                parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }
}
