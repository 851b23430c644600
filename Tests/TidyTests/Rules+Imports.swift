/// An import as a source states it.
struct Import: Equatable {
    let module: String
    let line: Int
}

/// The rules over the text of a source.
///
/// Each takes text and returns findings, so that it can be shown to fail.
enum Rules {}

extension Rules {
    /// The imports of a source, in order.
    static func imports(of source: SourceText) -> [Import] {
        var found: [Import] = []
        for (index, line) in source.code.enumerated() {
            let words = line.split(separator: " ").map(String.init)
            guard let position = words.firstIndex(of: "import"), position + 1 < words.count, position <= 3,
                words[..<position].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) })
            else { continue }
            // `import struct Foundation.Data` names the module third.
            let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor"]
            let named = kinds.contains(words[position + 1]) ? words[position + 2] : words[position + 1]
            let module = named.split(separator: ".").first.map(String.init) ?? named
            found.append(Import(module: module, line: index + 1))
        }
        return found
    }

    private static let accessLevels: Set = ["public", "package", "internal", "fileprivate", "private"]

    /// Returns the imports that a target may not have, by the layer table, the reserved modules and its manifest entry.
    static func importFindings(target: Manifest.Target, sources: [SourceText], manifest: Manifest) -> [Finding] {
        var findings: [Finding] = []
        for source in sources {
            for used in imports(of: source) where used.module != target.name {
                for rule in violations(of: used, in: target, manifest: manifest) {
                    findings.append(Finding(path: source.path, line: used.line, rule: rule))
                }
            }
        }
        return findings
    }

    private static func violations(of used: Import, in target: Manifest.Target, manifest: Manifest) -> [String] {
        var rules: [String] = []
        if !target.isTest, let allowed = Layers.reserved[used.module], !allowed.contains(target.name) {
            rules.append("\(used.module) may be imported only by \(allowed.sorted().joined(separator: ", "))")
        }
        if Layers.system.contains(used.module) { return rules }
        if !target.dependencies.contains(used.module) {
            rules.append("\(target.name) imports \(used.module) without declaring it in Package.swift")
        }
        guard !target.isTest, !Layers.outside.contains(target.name), let other = Layers.row(of: used.module) else {
            return rules
        }
        if let own = Layers.row(of: target.name), other >= own {
            rules.append("\(target.name) imports \(used.module), which does not stand below it")
        }
        return rules
    }

    /// The declared dependencies that no source of the target imports.
    static func unusedDependencies(target: Manifest.Target, sources: [SourceText]) -> [String] {
        let used = Set(sources.flatMap(imports(of:)).map(\.module))
        return target.dependencies.filter { !used.contains($0) }
    }

    /// Returns the targets that see a module from which a row of `forbidden` separates them, each with the path to it.
    ///
    /// `sources` returns the sources of a target. Edges are the dependencies in the manifest and the imports.
    static func separationFindings(
        manifest: Manifest,
        forbidden: [Layers.Separation] = Layers.forbidden,
        sources: (Manifest.Target) throws -> [SourceText]
    ) rethrows -> [Finding] {
        var seen: [String: Set<String>] = [:]
        for target in manifest.targets where !target.isTest {
            let imported = try sources(target).flatMap(imports(of:)).map(\.module)
            seen[target.name] = Set(target.dependencies).union(imported)
        }
        return forbidden.flatMap { separation in
            separation.modules.sorted().flatMap { module in
                paths(from: module, to: separation.unseen, over: seen).map { path in
                    Finding(path: "Package.swift", line: 1, rule: "forbidden: " + path.joined(separator: " sees "))
                }
            }
        }
    }

    /// Returns a shortest path from a module to each of `goals` that it reaches.
    private static func paths(
        from start: String,
        to goals: Set<String>,
        over edges: [String: Set<String>]
    ) -> [[String]] {
        var (reached, found): (Set<String>, [[String]]) = ([start], [])
        var open = [[start]]
        while !open.isEmpty {
            let path = open.removeFirst()
            for next in edges[path[path.count - 1], default: []].sorted() where reached.insert(next).inserted {
                open.append(path + [next])
                if goals.contains(next) { found.append(path + [next]) }
            }
        }
        return found
    }

    /// The target that gives the essentials of Foundation one name.
    private static let essentials = "Sources/Base/Essentials/"

    /// Returns the imports of the whole of Foundation, which targets below the node must not have.
    static func foundationFindings(_ source: SourceText) -> [Finding] {
        if source.path.hasPrefix(essentials) { return [] }
        return imports(of: source)
            .filter { $0.module == "Foundation" }
            .map { Finding(path: source.path, line: $0.line, rule: "the whole of Foundation is imported") }
    }

    /// The target that gives the C library of every system one name.
    private static let systemLibrary = "Sources/Base/Libc/"

    /// Returns the conditions on the system outside `Libc`, `Essentials` and whole files below `Linux/` and `Apple/`.
    static func conditionFindings(_ source: SourceText) -> [Finding] {
        if [systemLibrary, essentials].contains(where: source.path.hasPrefix) { return [] }
        let isPlatformFile = source.path.contains("/Linux/") || source.path.contains("/Apple/")
        var findings: [Finding] = []
        for (index, line) in source.code.enumerated() {
            let code = line.trimming(while: { $0 == " " })
            guard code.hasPrefix("#if") || code.hasPrefix("#elseif") else { continue }
            if isPlatformFile { continue }
            let rule = "condition outside Libc, Essentials, Linux/ and Apple/"
            findings.append(Finding(path: source.path, line: index + 1, rule: rule))
        }
        if isPlatformFile, source.path.hasSuffix(".swift") {
            let first = source.code.first { !$0.allSatisfy { $0 == " " } }
            if first?.hasPrefix("#if") != true {
                let rule = "a file for one system must lie wholly inside its #if"
                findings.append(Finding(path: source.path, line: 1, rule: rule))
            }
        }
        return findings
    }
}

extension StringProtocol {
    /// The text without the leading and trailing characters that satisfy `condition`.
    func trimming(while condition: (Character) -> Bool) -> String {
        String(drop(while: condition).reversed().drop(while: condition).reversed())
    }
}
