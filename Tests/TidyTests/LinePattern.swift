internal import Foundation

/// A regular expression for single lines.
///
/// Foundation's is several times as fast on many short lines as Swift's. Its boundaries of words are the simple ones;
/// those of Unicode make one word of `Task.detached`.
struct LinePattern {
    private let expression: NSRegularExpression

    init(_ pattern: String) throws {
        expression = try NSRegularExpression(pattern: pattern)
    }

    func firstMatch(in line: some StringProtocol) -> Substring? {
        let line = String(line)
        let whole = NSRange(line.startIndex..., in: line)
        return expression.firstMatch(in: line, range: whole).flatMap { Range($0.range, in: line) }.map { line[$0] }
    }

    /// Returns the last group of each match in a text of many lines.
    func lastGroups(in text: String) -> [Substring] {
        let whole = NSRange(text.startIndex..., in: text)
        return expression.matches(in: text, range: whole).compactMap { match in
            Range(match.range(at: expression.numberOfCaptureGroups), in: text).map { text[$0] }
        }
    }
}
