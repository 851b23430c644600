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

    @Test func `the program in the README is the one that is built`() throws {
        let program = try SourceTree.text(of: "Examples/two-nodes/TwoNodes.swift")
        #expect(try SourceTree.text(of: "README.md").contains("```swift\n\(program)```"))
    }

    @Test func `every test that the page of gotchas names exists`() throws {
        // The last column of each row of its tables.
        let cells = try SourceTree.text(of: "docs/quic-gotchas.md").split(separator: "\n")
            .filter { $0.hasPrefix("|") }.compactMap { $0.split(separator: "|").last }
        let named = cells.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
        let tests = try SourceTree.sources(below: "Tests").flatMap(\.lines).joined(separator: "\n")
        let missing = named.filter { !tests.contains("func `\($0)`") && !tests.contains("Scenario(\"\($0)\")") }
        #expect(missing.isEmpty, "\(missing)")
        // Each of the fourteen has at least one.
        #expect(named.count >= 14)
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

    @Test func `every script can be run`() {
        let scripts = SourceTree.paths(below: "scripts", suffixes: [".sh"]) + [".ci/run"]
        for script in scripts { #expect(SourceTree.isExecutable(script), "\(script)") }
    }
}
