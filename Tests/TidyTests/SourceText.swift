/// A Swift source in which only code is left: comments and the contents of literals are blanked, lines keep their place.
///
/// It handles nested comments, raw and multi-line strings, interpolations (their code is kept) and raw identifiers, but not
/// regular expression literals, which the package does not use.
struct SourceText {
    /// The path of the file, relative to the root of the package.
    let path: String
    /// The lines as they are written.
    let lines: [String]
    /// A copy of the lines with everything but code blanked.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var blanker = Blanker(text: Array(text.utf8))
        let blanked = String(decoding: blanker.run(), as: UTF8.self)
        code = blanked.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether a comment of some length follows the code of the line.
    func hasComment(line index: Int) -> Bool {
        let space = UInt8(ascii: " ")
        let isCode = code[index].utf8.lastIndex { $0 != space }
        let codeEnd = isCode.map { code[index].utf8.distance(from: code[index].startIndex, to: $0) + 1 } ?? 0
        // Blanking keeps the number of bytes, so the columns agree.
        let rest = lines[index].utf8.dropFirst(codeEnd).drop { $0 == space }
        return rest.starts(with: "//".utf8) && rest.count > 6
    }

    /// Returns the contents of the string literals in a line, with spaces in place of its code.
    func literals(line index: Int) -> String {
        let space = UInt8(ascii: " ")
        let (bytes, kept) = (Array(lines[index].utf8), Array(code[index].utf8))
        let codeEnd = (kept.lastIndex { $0 != space } ?? -1) + 1
        let isComment = bytes.dropFirst(codeEnd).drop { $0 == space }.starts(with: "//".utf8)
        let end = isComment ? codeEnd : bytes.count
        let text = zip(bytes, kept).prefix(end).map { byte, code in code == space ? byte : space }
        return String(decoding: text, as: UTF8.self)
    }
}

/// One pass over the bytes that replaces everything but code with spaces.
private struct Blanker {
    private enum Mode {
        /// Code; inside an interpolation `depth` counts the open parentheses, otherwise it is nil.
        case code(depth: Int?)
        case string(hashes: Int, isMultiline: Bool)
    }

    private let input: [UInt8]
    private var output: [UInt8] = []
    private var position = 0
    private var modes: [Mode] = [.code(depth: nil)]

    init(text: [UInt8]) {
        input = text
        output.reserveCapacity(text.count)
    }

    mutating func run() -> [UInt8] {
        while position < input.count {
            switch modes.last {
            case .string(let hashes, let isMultiline): stepString(hashes: hashes, isMultiline: isMultiline)
            case .code(let depth): stepCode(depth: depth)
            case nil: modes.append(.code(depth: nil))
            }
        }
        return output
    }

    private mutating func stepCode(depth: Int?) {
        if starts(with: "//") {
            while position < input.count, input[position] != UInt8(ascii: "\n") { blank(1) }
        } else if starts(with: "/*") {
            blankBlockComment()
        } else if let hashes = openingHashes() {
            let isMultiline = starts(with: "\"\"\"", at: position + hashes)
            keep(hashes + (isMultiline ? 3 : 1))
            modes.append(.string(hashes: hashes, isMultiline: isMultiline))
        } else if input[position] == UInt8(ascii: "`") {
            keep(1)
            while position < input.count, input[position] != UInt8(ascii: "`") { put("_") }
            if position < input.count { keep(1) }
        } else {
            countParentheses(depth: depth)
        }
    }

    private mutating func countParentheses(depth: Int?) {
        let byte = input[position]
        keep(1)
        guard let depth else { return }
        if byte == UInt8(ascii: "(") {
            modes[modes.count - 1] = .code(depth: depth + 1)
        } else if byte == UInt8(ascii: ")") {
            modes[modes.count - 1] = .code(depth: depth - 1)
            if depth == 1 { modes.removeLast() }
        }
    }

    private mutating func stepString(hashes: Int, isMultiline: Bool) {
        let marks = String(repeating: "#", count: hashes)
        if starts(with: "\\" + marks + "(") {
            keep(hashes + 2)
            modes.append(.code(depth: 1))
        } else if starts(with: "\\" + marks) {
            blank(hashes + 2)
        } else if starts(with: (isMultiline ? "\"\"\"" : "\"") + marks) {
            keep((isMultiline ? 3 : 1) + hashes)
            modes.removeLast()
        } else if !isMultiline, input[position] == UInt8(ascii: "\n") {
            modes.removeLast()
        } else {
            blank(1)
        }
    }

    private mutating func blankBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                blank(2)
            } else if starts(with: "*/") {
                depth -= 1
                blank(2)
            } else {
                blank(1)
            }
        } while depth > 0 && position < input.count
    }

    /// The number of `#` before the quotation mark that begins a string here, or nil if none does.
    private func openingHashes() -> Int? {
        var index = position
        while index < input.count, input[index] == UInt8(ascii: "#") { index += 1 }
        guard index < input.count, input[index] == UInt8(ascii: "\"") else { return nil }
        return index - position
    }

    private func starts(with word: String, at start: Int? = nil) -> Bool {
        input.dropFirst(start ?? position).starts(with: word.utf8)
    }

    private mutating func keep(_ count: Int) {
        let end = min(position + count, input.count)
        output.append(contentsOf: input[position..<end])
        position = end
    }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where position < input.count { put(" ") }
    }

    private mutating func put(_ character: Character) {
        let isNewline = input[position] == UInt8(ascii: "\n")
        output.append(isNewline ? UInt8(ascii: "\n") : character.asciiValue ?? UInt8(ascii: " "))
        position += 1
    }
}
