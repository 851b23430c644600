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
}
