internal import Testing

/// A rule that cannot fail proves nothing, so each is shown a source that breaks it.
@Suite("Planted faults") struct PlantedTests {
    private let manifest = Manifest(
        text: """
            let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
            let package = Package(
                targets: [
                    module("Identity", in: "Base", ["Bytes", crypto]),
                    module("NodeCore", in: "Protocols", ["Identity", "QUIC"]),
                    .executableTarget(name: "runar", dependencies: ["RunarNode"], path: "Sources/Apps/runar"),
                    tests(of: "Identity", ["Identity"]),
                ]
            )
            """
    )

    private func source(_ text: String, path: String = "Sources/Base/Planted.swift") -> SourceText {
        SourceText(path: path, text: text)
    }

    private func findings(importing text: String, in name: String) throws -> [Finding] {
        let target = try #require(manifest.target(name))
        return Rules.importFindings(target: target, sources: [source(text)], manifest: manifest)
    }

    @Test func `the manifest is read with its products, paths and tests`() throws {
        #expect(manifest.targets.map(\.name) == ["Identity", "NodeCore", "runar", "IdentityTests"])
        #expect(manifest.target("Identity")?.dependencies == ["Bytes", "Crypto"])
        #expect(manifest.target("Identity")?.path == "Sources/Base/Identity")
        #expect(manifest.target("runar")?.path == "Sources/Apps/runar")
        #expect(manifest.target("IdentityTests")?.isTest == true)
    }

    @Test func `an import that points upwards is found`() throws {
        let found = try findings(importing: "internal import QUIC", in: "NodeCore")
        #expect(found.map(\.rule).contains { $0.contains("does not stand below") })
        #expect(found.map(\.rule).contains { $0.contains("may be imported only by") })
    }

    @Test func `an operation that is not served once is found`() {
        let declared = ["one", "two", "three"].map { "    static let \($0) = Operation<NoPath, NoForm, Report>(.get)" }
        let served = "serve(Operations.one) {}\nstream(Operations.one) {}\nrespond(to: Operations.two) {}"
        let found = Rules.operationFindings([source(declared.joined(separator: "\n")), source(served)])
        #expect(found == ["one is served 2 times", "three is served 0 times"])
        let endpoints = """
            static let find = Endpoint<NoPath, NoForm, Report>(.get)
            static let list = Endpoint<NoPath, NoForm, Report>(.get)
            static let move = Endpoint<NoPath, NoForm, Report>(.post)
            static let find = Operation<NoPath, NoForm, Report>(.get)
            Accounts.find.serve { Report() }
            serve(Operations.find) { Report() }
            Accounts.list.respond(rules) { Report() }
            Accounts.list.serveAction {}
            """
        let others = Rules.operationFindings([source(endpoints)])
        #expect(others == ["list is served 2 times", "move is served 0 times"])
    }

    @Test func `a separated module is found in the manifest, in an import and behind other targets`() {
        let manifest = Manifest(
            text: """
                let package = Package(
                    targets: [
                        module("Circle", in: "Node", []),
                        module("Helpers", in: "Base", ["Circle"]),
                        module("Gateway", in: "Node", ["Helpers", "Circle"]),
                        module("Tunnel", in: "Node", ["Helpers"]),
                        module("Registration", in: "Node", []),
                        tests(of: "Registration", ["Tunnel"]),
                    ]
                )
                """
        )
        let found = Rules.separationFindings(manifest: manifest) { target in
            target.name == "Registration" ? [source("internal import Tunnel")] : []
        }
        #expect(
            found.map(\.rule) == [
                "forbidden: Gateway sees Circle", "forbidden: Tunnel sees Helpers sees Circle",
                "forbidden: Registration sees Tunnel",
            ]
        )
    }

    @Test func `an undeclared import is found`() throws {
        #expect(try findings(importing: "public import struct Concurrency.Locked", in: "Identity").count == 1)
        #expect(try findings(importing: "package import Bytes", in: "Identity").isEmpty)
    }

    @Test func `an unused dependency is found`() throws {
        let target = try #require(manifest.target("Identity"))
        #expect(Rules.unusedDependencies(target: target, sources: [source("internal import Bytes")]) == ["Crypto"])
    }

    @Test func `an import in a comment or a string is none`() {
        let text =
            "// internal import QUIC\n/* internal import A /* nested */ internal import B */\nlet a = \"import C\"\n"
        #expect(Rules.imports(of: source(text)).isEmpty)
    }

    @Test func `the whole of Foundation is found outside Essentials`() throws {
        let choice = """
            #if canImport(FoundationEssentials)
            public import FoundationEssentials
            #else
            public import Foundation
            #endif
            """
        let essentials = source(choice, path: "Sources/Base/Essentials/Essentials.swift")
        #expect(Rules.foundationFindings(essentials).isEmpty && Rules.conditionFindings(essentials).isEmpty)
        #expect(Rules.foundationFindings(source(choice)).count == 1)
        #expect(Rules.conditionFindings(source(choice)).count == 1)
        #expect(try findings(importing: "internal import FoundationEssentials", in: "Identity").count == 1)
    }

    @Test(arguments: ["#if os(Linux)\n#endif", "#if canImport(Darwin)\n#endif", "#if DEBUG\n#endif"])
    func `a condition outside its folder is found`(text: String) {
        #expect(Rules.conditionFindings(source(text)).count == 1)
        #expect(Rules.conditionFindings(source(text, path: "Sources/Platform/Linux/A.swift")).isEmpty)
        #expect(Rules.conditionFindings(source("let a = 1", path: "Sources/Platform/Linux/A.swift")).count == 1)
        #expect(Rules.conditionFindings(source(text, path: "Sources/Base/Libc/Libc.swift")).isEmpty)
        #expect(Rules.conditionFindings(source(text, path: "Sources/Base/Bytes/Libc.swift")).count == 1)
    }

    @Test(arguments: [
        "let now = Date.now", "let at = ContinuousClock.now", "Task { run() }", "await send()", "a.shuffled()",
        "let roll = Int.random(in: 0..<6)", "var generator = SystemRandomNumberGenerator()", "actor Peer {}",
    ])
    func `time, randomness and tasks in a protocol are found`(text: String) throws {
        #expect(!(try Rules.wordFindings([source(text)], banned: Rules.bannedInProtocols).isEmpty))
    }

    @Test(arguments: [
        "let roll = Int.random(in: 0..<6, using: &generator)", "let text = \"await Task\"", "func `no await`() {}",
        "timers.arm(turn.now)",
    ])
    func `randomness that is given, and words in text, are allowed in a protocol`(text: String) throws {
        #expect(try Rules.wordFindings([source(text)], banned: Rules.bannedInProtocols).isEmpty)
    }

    @Test func `a trap inside an interpolation is found`() throws {
        let text = "let a = \"\\(try! parse(\"x\"))\""
        #expect(try Rules.wordFindings([source(text)], banned: Rules.bannedEverywhere).count == 1)
    }

    @Test func `a process of Foundation's in a test is found`() throws {
        #expect(try Rules.wordFindings([source("let a = Process()")], banned: Rules.bannedInTests).count == 1)
        #expect(try Rules.wordFindings([source("let a = ChildProcess()")], banned: Rules.bannedInTests).isEmpty)
    }

    @Test(arguments: [
        "try await Task.sleep(for: .seconds(1))", "try await Task.sleep(nanoseconds: 1)", "let pause = Task.sleep",
        "try await Task<Never, Never>.sleep(for: pause)",
    ])
    func `a pause in a test target is found, in a helper program it is allowed`(text: String) throws {
        let test = source(text, path: "Tests/NodeTests/Planted.swift")
        #expect(try Rules.wordFindings([test], banned: Rules.bannedInTests).map(\.line) == [1])
        #expect(!Rules.isTimed(test) && !Rules.isTimed(source(text, path: "Tests/TestSupport/Planted.swift")))
        #expect(Rules.isTimed(source(text, path: "Tests/Helpers/Soak/Planted.swift")))
    }

    @Test func `a value without copies that cleans up is found, a class is not`() {
        let body = " {\n    deinit { close() }\n}"
        #expect(Rules.cleanupFindings(source("struct File: ~Copyable" + body)).map(\.line) == [1])
        #expect(Rules.cleanupFindings(source("final class File" + body)).isEmpty)
        #expect(Rules.cleanupFindings(source("struct Key: ~Copyable {}")).isEmpty)
    }

    @Test func `a dropped failure needs its reason`() {
        #expect(Rules.silentFailureFindings(source("let a = try? b()")).count == 1)
        #expect(Rules.silentFailureFindings(source("let a = try? b(\"// no\")")).count == 1)
        #expect(Rules.silentFailureFindings(source("let a = try? b()  // gone already is fine")).isEmpty)
    }

    @Test func `long functions and files are found`() {
        let body = String(repeating: "    step()\n", count: Rules.maximumFunctionLines + 1)
        let text = "struct A {\n    func long(a: Int) -> Int {\n\(body)    }\n    var short: Int { 1 }\n}\n"
        #expect(Rules.functionLengthFindings(source(text)).map(\.line) == [2])
        #expect(Rules.functions(of: source(text)).map(\.name) == ["long", "short"])
        let file = String(repeating: "\n", count: Rules.maximumFileLines + 1)
        #expect(Rules.fileLengthFindings(source(file)).count == 1)
    }

    @Test func `dead links, missing documents and unknown make targets are found`() {
        let text = "See [this](../SECURITY.md#limits), [that](missing.md) and `make nothing`.\n"
        let found = Rules.linkFindings(path: "docs/a.md", text: text) { $0 == "SECURITY.md" }
        #expect(found.map(\.rule) == ["the link to missing.md leads nowhere"])
        let mention = "/// Layout: `docs/spec/missing.md`, section 1."
        #expect(Rules.mentionFindings(path: "A.swift", text: mention) { _ in false }.count == 1)
        #expect(Rules.makeTargetFindings(path: "docs/a.md", text: text, targets: ["demo"]).count == 1)
    }

    @Test func `code on a page that is not in its example is found`() {
        let page = "Text.\n```swift\nb()\n\nc()\n```\n```sh\nmake\n```\n```swift\nb()\nc()\n```\n"
        let blocks = Rules.codeBlocks(of: "swift", in: page)
        #expect(blocks == ["b()\n\nc()", "b()\nc()"])
        #expect(blocks.map { Rules.isExcerpt($0, of: "a()\n    b()\n\n    c()\n") } == [true, false])
        #expect(!Rules.isExcerpt("", of: "a()\n") && !Rules.isExcerpt("a(", of: "a()\n"))
    }

    @Test func `a function that a walk names and its file does not declare is found`() throws {
        let sources = [
            source("struct A {\n    func open() { close() }\n}", path: "Sources/Base/A.swift"),
            source("enum Phase {\n    case idle, busy(Int)\n}", path: "Sources/Base/A+Phase.swift"),
            source("static int f(void) { return g(); }", path: "Sources/Base/c.c"),
        ]
        let page = """
            `A.open()` of an `A` calls `f` in `Sources/Base/c.c`,
            then `.busy(.idle)` and `A.close`.

            | 1 | `open` in `Sources/Base/A.swift` | `Phase`, and `runar listen` |
            | 2 | `open` in the same file | `Sources/Base/c.c` has `open` |
            | 3 | `.full` | `B` |
            """
        let found = Rules.walkFindings(path: "w.md", text: page, declarations: try Declarations(sources))
        let lines = found.map { "\($0.line) \($0.rule.prefix { $0 != " " })" }
        #expect(lines == ["1 `A.close`", "5 `open`", "5 `open`", "6 `.full`", "6 `B`"])
    }

    @Test func `a path of one machine is found`() throws {
        #expect(try Rules.machinePathFindings(path: "a.md", text: "see /" + "home/me/x").count == 1)
        #expect(try Rules.machinePathFindings(path: "a.md", text: "see https://example.org/" + "home/x").isEmpty)
    }

    @Test(arguments: [
        ("a.md", "It waits for " + "ever."), ("a.swift", "    // Who" + "ever asks is refused."),
        ("b.py", "# A peer is " + "told."),
        ("a.swift", "/// " + "What a peer asked."), ("a.swift", "    /// The " + "same of another."),
        ("a.swift", "@Test func `no" + "body is asked twice`() {"),
        ("web/texts.js", "close: \"No" + "body is there\","),
        ("web/openapi.json", "{\"description\": \"Where no" + "body is\"}"),
        ("Sources/Apps/CRunar/include/a.h", "int a; /**< who" + "ever asks */"),
        ("Sources/Base/a.swift", "let a = \"every peer stands " + "for \\(b) peers\""),
    ])
    func `words outside plain English are found`(path: String, text: String) throws {
        #expect(try Rules.englishFindings(path: path, text: "\n" + text).map(\.line) == [2])
    }

    @Test func `plain English and words in code are no findings`() throws {
        let text = "/// The whatever of a peer.\nlet nobody = \"whoever\"\n/// Whether it is kept.\n"
        #expect(try Rules.englishFindings(path: "a.swift", text: text).isEmpty)
        let code = "let a = \"\\(whom(no" + "body))\"  // a peer gave " + "up\n"
        #expect(try Rules.englishFindings(path: "Sources/Base/a.swift", text: code).isEmpty)
    }

    @Test(arguments: [
        ("    /// It begins " + "with what a peer sent.", 1), ("let a = 1  // The peer " + "told it", 1),
        ("// The wait " + "is over.", 1), ("/// It " + "gives up.", 1), ("// A call is " + "to be made", 1),
        ("// see https://example.org for " + "what is new", 0), ("let a = \"it says\"", 0),
        ("/// Whether there is a peer.", 0),
    ])
    func `a comment in odd grammar is found`(line: String, count: Int) throws {
        #expect(try Rules.grammarFindings(path: "a.swift", lines: [line]).count == count)
    }
}
