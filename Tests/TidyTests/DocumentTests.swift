internal import Testing

@Suite("Documents") struct DocumentTests {
    private let documents = SourceTree.paths(below: "", suffixes: [".md"])

    @Test(arguments: ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
    func `the house has its documents`(path: String) {
        #expect(SourceTree.exists(path))
    }

    @Test func `every link leads to a file`() throws {
        let findings = try documents.flatMap {
            Rules.linkFindings(path: $0, text: try SourceTree.text(of: $0), exists: SourceTree.exists)
        }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `every document that a comment or a page names exists`() throws {
        let findings = try SourceTree.paths(below: "", suffixes: [".md", ".swift", ".c", ".h", ".py"])
            .filter { !$0.hasPrefix("Tests/TidyTests/") }
            .flatMap {
                Rules.mentionFindings(path: $0, text: try SourceTree.text(of: $0), exists: SourceTree.exists)
            }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `every make target that a document names exists`() throws {
        let targets = Rules.makeTargets(in: try SourceTree.text(of: "Makefile"))
        #expect(targets.isSuperset(of: ["demo", "test"]))
        let findings = try documents.flatMap {
            Rules.makeTargetFindings(path: $0, text: try SourceTree.text(of: $0), targets: targets)
        }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test(arguments: [
        ("README.md", "swift", "Examples/two-nodes/TwoNodes.swift"),
        ("docs/library.md", "python", "Examples/python/hello.py"),
    ])
    func `the code on a page is part of its example`(page: String, language: String, example: String) throws {
        let blocks = Rules.codeBlocks(of: language, in: try SourceTree.text(of: page))
        let program = try SourceTree.text(of: example)
        let foreign = blocks.filter { !Rules.isExcerpt($0, of: program) }
        #expect(!blocks.isEmpty && foreign.isEmpty, "\(foreign)")
    }

    @Test(arguments: [
        ("dht", "Kademlia/dht"), ("events", "PubSub/events"), ("mailbox", "Mailbox/vectors"),
        ("circle", "Circle/vectors"),
    ])
    func `the bytes of an example are those of a vector`(page: String, vectors: String) throws {
        let blocks = Rules.codeBlocks(of: "text", in: try SourceTree.text(of: "docs/spec/\(page).md"))
        let example = try #require(blocks.first { $0.hasPrefix("offset  bytes\n") })
        var bytes = ""
        for row in example.split(separator: "\n").dropFirst() {
            let cells = row.split(separator: " ")
            #expect(Int(cells[0]) == bytes.count / 2, "\(row)")
            bytes += try #require(cells.dropFirst().first, "\(row)")
        }
        #expect(try SourceTree.text(of: "Tests/Vectors/\(vectors).json").contains("\"\(bytes)\""))
    }

    @Test(arguments: [("docs/quic-gotchas.md", 14), ("docs/security-review.md", 60), ("SECURITY.md", 104)])
    func `every test that a page names exists`(page: String, atLeast count: Int) throws {
        let named = Rules.quoted(in: try Rules.column("Test", of: SourceTree.text(of: page)))
        let tests = Rules.testNames(in: try SourceTree.sources(below: "Tests"))
        let missing = named.filter { !tests.contains($0) }
        #expect(missing.isEmpty, "\(missing)")
        #expect(named.count >= count)
    }

    @Test func `each cell of the tables of observers has its tests, which are in their targets`() throws {
        let text = try SourceTree.text(of: "SECURITY.md")
        let targets = Rules.column("Target", of: text).compactMap { $0.split(separator: " ").first }
        let tests = Rules.column("Test", of: text).compactMap { Rules.quoted(in: [$0]).first }
        #expect(tests.count == targets.count && tests.count >= 104)
        let scenarios = Rules.testNames(in: try SourceTree.sources(below: "Tests/TransportConformance"))
        for (target, test) in zip(targets, tests) {
            let names = Rules.testNames(in: try SourceTree.sources(below: "Tests/\(target)"))
            #expect(names.contains(test) || scenarios.contains(test), "\(test) is not in \(target)")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let tables = ["| | LAN |", "| | Everyone |", "| | Internet provider |"].map { title in
            lines.drop(while: { !$0.hasPrefix(title) }).dropFirst(2).prefix(while: { $0.hasPrefix("|") })
        }
        #expect(tables[0].count >= 17 && tables[1].count >= 8 && tables[2].count >= 10)
        let cells = tables.joined().flatMap { $0.split(separator: "|").dropFirst() }
        let named = cells.map { cell in
            cell.matches(of: /\(([0-9, ]+)\)/).flatMap { $0.1.split(separator: ", ").compactMap { Int($0) } }
        }
        let bare = zip(cells, named).filter { $1.isEmpty && $0 != " = " }.map { $0.0 }
        #expect(bare.isEmpty, "\(bare)")
        #expect(Set(named.joined()) == Set(1...tests.count))
    }

    @Test func `every threat of the security review has its test or its finding, and every file in it exists`() throws {
        let text = try SourceTree.text(of: "docs/security-review.md")
        let (tests, findings) = (Rules.column("Test", of: text), Rules.column("Finding", of: text))
        let bare = zip(tests, findings).filter { Rules.quoted(in: [$0]).isEmpty && !$1.contains("open") }
        #expect(bare.isEmpty, "\(bare)")
        let files = Set(
            SourceTree.paths(below: "Sources", suffixes: [".swift", ".c"]).compactMap { $0.split(separator: "/").last }
        )
        let named = Rules.quoted(in: Rules.column("What stops it", of: text))
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }
        #expect(named.count >= 30)
        let missing = named.filter { !files.contains(Substring($0)) }
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func `every file that the pages on the architecture name exists`() throws {
        let pages = ["ARCHITECTURE.md"] + SourceTree.paths(below: "docs/architecture", suffixes: [".md"])
        let named = Rules.quoted(in: try pages.map { try SourceTree.text(of: $0) })
            .filter { $0.hasPrefix("Sources/") || $0.hasPrefix("Tests/") }
        #expect(pages.count >= 9 && named.count >= 60)
        let missing = named.filter { !SourceTree.exists($0) }
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func `every function that the walks name is in the file or type next to it`() throws {
        let page = "docs/architecture/walks.md"
        let shims = try SourceTree.paths(below: "Sources/Transport", suffixes: [".c"])
            .map { SourceText(path: $0, text: try SourceTree.text(of: $0)) }
        let declarations = try Declarations(try SourceTree.sources(below: "Sources") + shims)
        let text = try SourceTree.text(of: page)
        let findings = Rules.walkFindings(path: page, text: text, declarations: declarations)
        #expect(findings.isEmpty, "\(findings.listing)")
        #expect(Rules.quoted(in: [text]).count >= 200)
    }

    @Test func `decisions are numbered without a gap`() {
        let numbers = SourceTree.paths(below: "docs/decisions", suffixes: [".md"])
            .compactMap { $0.split(separator: "/").last.flatMap { Int($0.prefix(4)) } }
        #expect(numbers == Array(1...max(1, numbers.count)))
    }

    @Test func `no path of one machine stands in the project`() throws {
        let suffixes = [".md", ".swift", ".sh", ".py", ".c", ".h", "Makefile", ".ci/run", ".json", ".yml"]
        let findings = try SourceTree.paths(below: "", suffixes: suffixes)
            .flatMap { try Rules.machinePathFindings(path: $0, text: try SourceTree.text(of: $0)) }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `comments, documents and test names are in plain English`() throws {
        let paths = SourceTree.paths(below: "", suffixes: Rules.proseSuffixes).filter { !Rules.isQuotation($0) }
        #expect(paths.count > 1000)
        let findings = try paths.flatMap { try Rules.englishFindings(path: $0, text: try SourceTree.text(of: $0)) }
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `the comments in odd grammar are as many as recorded`() throws {
        let shims = try SourceTree.paths(below: "Sources", suffixes: [".c", ".h"])
            .map { SourceText(path: $0, text: try SourceTree.text(of: $0)) }
        let findings = try (SourceTree.sources(below: "Sources") + shims)
            .flatMap { try Rules.grammarFindings(path: $0.path, lines: $0.lines) }
        let (count, record) = (findings.count, Rules.oddComments)
        #expect(count <= record, "\(count) comments, not \(record): rewrite the new ones\(findings.listing)")
        #expect(count >= record, "lower Rules.oddComments from \(record) to \(count)")
    }

    @Test func `every script can be run`() {
        let scripts = SourceTree.paths(below: "scripts", suffixes: [".sh"]) + [".ci/run"]
        for script in scripts { #expect(SourceTree.isExecutable(script), "\(script)") }
    }
}
