extension Rules {
    /// The number of lines that fit on a few screens.
    static let maximumFileLines = 400
    /// The number of lines that fit on one screen, counted between the braces.
    static let maximumFunctionLines = 60
    /// Files that are data in the shape of source.
    static let dataFiles: Set = ["Sources/Base/Identity/RecoveryPhrase+Words.swift"]

    /// A file that is too long.
    static func fileLengthFindings(_ source: SourceText) -> [Finding] {
        let count = source.lines.last?.isEmpty == true ? source.lines.count - 1 : source.lines.count
        guard count > maximumFileLines, !dataFiles.contains(source.path) else { return [] }
        return [Finding(path: source.path, line: count, rule: "\(count) lines; at most \(maximumFileLines)")]
    }

    /// Functions, initializers and accessors that are too long.
    static func functionLengthFindings(_ source: SourceText) -> [Finding] {
        functions(of: source)
            .filter { $0.bodyLines > maximumFunctionLines }
            .map {
                let rule = "`\($0.name)` has \($0.bodyLines) lines; at most \(maximumFunctionLines)"
                return Finding(path: source.path, line: $0.line, rule: rule)
            }
    }

    /// A declaration with a body.
    struct Function: Equatable {
        let name: String
        let line: Int
        let bodyLines: Int
    }

    /// The functions of a source, found by their braces.
    static func functions(of source: SourceText) -> [Function] {
        var found: [Function] = []
        var open: [(function: (name: String, line: Int)?, line: Int)] = []
        var header: [(word: Substring, line: Int)] = []
        for (index, line) in source.code.enumerated() {
            for piece in pieces(of: line) {
                switch piece {
                case "{":
                    open.append((declared(by: header), index))
                    header = []
                case "}":
                    if let block = open.popLast(), let function = block.function {
                        let body = max(0, index - block.line - 1)
                        found.append(Function(name: function.name, line: function.line + 1, bodyLines: body))
                    }
                    header = []
                default:
                    header.append((piece, index))
                }
            }
        }
        return found
    }

    /// Words and braces; everything else separates.
    private static func pieces(of line: String) -> [Substring] {
        var pieces: [Substring] = []
        var start: String.Index?
        for index in line.indices {
            let character = line[index]
            if character.isLetter || character.isNumber || character == "_" || character == "." {
                start = start ?? index
                continue
            }
            if let begun = start { pieces.append(line[begun..<index]) }
            start = nil
            if character == "{" || character == "}" { pieces.append(line[index...index]) }
        }
        if let begun = start { pieces.append(line[begun...]) }
        return pieces
    }

    /// The function that a block with this header belongs to, if it is one.
    private static func declared(by header: [(word: Substring, line: Int)]) -> (name: String, line: Int)? {
        let keywords: Set<Substring> = ["func", "init", "deinit", "subscript", "get", "set", "willSet", "didSet"]
        let others: Set<Substring> = [
            "if", "for", "while", "guard", "switch", "do", "catch", "else", "class", "struct", "enum", "extension",
            "protocol", "actor", "return", "repeat", "defer",
        ]
        guard let last = header.lastIndex(where: { keywords.contains($0.word) || others.contains($0.word) }) else {
            // `var name: Type {`: a computed property.
            guard let property = header.lastIndex(where: { $0.word == "var" }), property + 1 < header.count else {
                return nil
            }
            return (String(header[property + 1].word), header[property].line)
        }
        guard keywords.contains(header[last].word) else { return nil }
        let isFunction = header[last].word == "func" && last + 1 < header.count
        return (String(isFunction ? header[last + 1].word : header[last].word), header[last].line)
    }
}
