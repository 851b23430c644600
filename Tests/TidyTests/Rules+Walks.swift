/// The names that sources declare, by file.
struct Declarations {
    private let names: [String: Set<Substring>]

    /// Reads the declarations of Swift sources, and the functions that C sources name.
    init(_ sources: [SourceText]) throws {
        let kinds = "func|var|let|struct|class|enum|actor|protocol|typealias"
        let declared = try LinePattern("\\b(?:\(kinds)) (\\w+)")
        let cases = try LinePattern("(?m)^ *(?:indirect )?case (\\w.*)$")
        let called = try LinePattern("\\b(\\w+)\\(")
        var names: [String: Set<Substring>] = [:]
        for source in sources {
            let code = source.code.joined(separator: "\n")
            var found = Set(source.path.hasSuffix(".c") ? called.lastGroups(in: code) : declared.lastGroups(in: code))
            for list in cases.lastGroups(in: code) { found.formUnion(Self.words(in: list)) }
            names[source.path] = found
        }
        self.names = names
    }

    /// Whether a file of Swift or C declares the name.
    func has(_ name: Substring, in path: String) -> Bool { names[path]?.contains(name) == true }

    /// Whether any file declares the name.
    func has(_ name: Substring) -> Bool { names.values.contains { $0.contains(name) } }

    /// Returns the files that are named after a type: its own, and those of its extensions.
    func files(of type: Substring) -> [String] {
        names.keys.filter { path in
            let file = path.split(separator: "/").last ?? ""
            return file == "\(type).swift" || file.hasPrefix("\(type)+")
        }
    }

    /// Returns the words of a text.
    static func words(in text: some StringProtocol) -> [Substring] {
        Substring(text).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    }
}

extension Rules {
    /// Returns the names on a page of walks that the files and types next to them do not declare.
    ///
    /// A name is in a row of a table or in a paragraph. A member must be declared in a file of its type, or in one
    /// that the row names; a function in a file or type of the row; a type or a case anywhere. A row without a file has
    /// those of the row before.
    static func walkFindings(path: String, text: String, declarations: Declarations) -> [Finding] {
        var files: [String] = []
        return passages(of: text).flatMap { line, passage in
            let quoted = quoted(in: [passage])
            let named = quoted.filter { $0.hasPrefix("Sources/") }
            if !named.isEmpty { files = named }
            let names = quoted.filter { !$0.prefix { $0 != "(" }.contains { $0 == "/" || $0 == " " } }
            let owners = names.map(owner(in:)).filter { $0.first?.isUppercase == true }
            let places = files + owners.flatMap(declarations.files(of:))
            return names.filter { !isDeclared($0, in: places, declarations) }
                .map { Finding(path: path, line: line, rule: "`\($0)` is not declared there") }
        }
    }

    private static func isDeclared(_ name: String, in places: [String], _ declarations: Declarations) -> Bool {
        if name.hasPrefix(".") { return Declarations.words(in: name).allSatisfy(declarations.has) }
        let parts = name.prefix { $0 != "(" }.split(separator: ".")
        guard let last = parts.last else { return true }
        if last.first?.isUppercase == true { return declarations.has(last) }
        return places.contains { declarations.has(last, in: $0) }
    }

    /// Returns the type before the first dot of a name; in the examples of a page, `node` is one of the library.
    private static func owner(in name: String) -> Substring {
        let first = name.prefix { $0 != "." && $0 != "(" }
        return first == "node" ? "RunarNode" : first
    }

    /// Returns the rows of tables and the paragraphs of a page, each with the number of its first line.
    private static func passages(of text: String) -> [(line: Int, text: String)] {
        var passages: [(line: Int, text: String)] = []
        var isOpen = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let isRow = line.hasPrefix("|")
            if isOpen, !isRow, !line.isEmpty {
                passages[passages.count - 1].text += " " + line
            } else if !line.isEmpty {
                passages.append((index + 1, String(line)))
            }
            isOpen = !isRow && !line.isEmpty
        }
        return passages
    }
}
