internal import Testing

@Suite("Sources") struct SourceTests {
    private static let libraries = ["Base", "Protocols", "Transport", "Platform", "Storage", "Node"]

    /// The folders of source that the rules for all code hold for.
    private func everything() throws -> [SourceText] {
        try ["Sources", "Tests", "Benchmarks", "Examples"].flatMap { try SourceTree.sources(below: $0) }
    }

    @Test func `protocol targets have no time, randomness, tasks or input and output`() throws {
        let sources = try SourceTree.sources(below: "Sources/Protocols")
        let words = try Rules.wordFindings(sources, banned: Rules.bannedInProtocols)
        #expect(words.isEmpty, "\(words.listing)")
        for source in sources {
            let imports = Rules.imports(of: source).filter { Rules.bannedProtocolImports.contains($0.module) }
            #expect(imports.isEmpty, "\(source.path) imports \(imports.map(\.module))")
        }
    }

    @Test func `base and transport see at most the essentials of Foundation`() throws {
        for folder in ["Sources/Base", "Sources/Protocols", "Sources/Transport"] {
            let findings = try SourceTree.sources(below: folder).flatMap(Rules.foundationFindings)
            #expect(findings.isEmpty, "\(findings.listing)")
        }
    }

    @Test func `conditions on the system are in Libc, Essentials or whole files in their folders`() throws {
        let findings = try everything().flatMap(Rules.conditionFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `each operation of the API is served once`() throws {
        let findings = try Rules.operationFindings(SourceTree.sources(below: "Sources/Apps"))
        #expect(findings.isEmpty, "\(findings.joined(separator: "\n"))")
    }

    @Test func `nothing traps, detaches or sleeps`() throws {
        let findings = try Rules.wordFindings(everything(), banned: Rules.bannedEverywhere)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `values without copies do not clean up`() throws {
        let findings = try everything().filter { !Rules.belongsToLoop($0) }.flatMap(Rules.cleanupFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `tests wait for events, not for time`() throws {
        let sources = try SourceTree.sources(below: "Tests").filter { !Rules.isTimed($0) }
        let findings = try Rules.wordFindings(sources, banned: Rules.bannedInTests)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `tests that wait for commands do not block the threads of tasks`() throws {
        let runners = ["RunningCommand(", "TerminalCommand(", ".runar(["]
        let sources = try ["Tests/CommandTests", "Tests/LabTests"].flatMap { try SourceTree.sources(below: $0) }
        func has(_ word: String, _ source: SourceText) -> Bool { source.code.contains { $0.contains(word) } }
        let suites = sources.filter { source in
            has("@Suite(", source) && runners.contains { has($0, source) }
        }
        #expect(suites.count > 30)
        let findings = suites.filter { !has(".aside", $0) }.map(\.path)
        #expect(findings.isEmpty, "without .aside, which gives each test a thread: \(findings)")
    }

    @Test func `tasks wait with the shared primitives`() throws {
        let sources = try SourceTree.sources(below: "Sources").filter { !Rules.definesPromise($0) }
        let findings = try Rules.wordFindings(sources, banned: Rules.bannedOutsidePromise)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `libraries do not print`() throws {
        let sources = try Self.libraries.flatMap { try SourceTree.sources(below: "Sources/\($0)") }
        let findings = try Rules.wordFindings(sources, banned: Rules.bannedInLibraries)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `one writer has standard output of the command`() throws {
        let folders = ["runar", "CommandKit", "CommandModel"].map { "Sources/Apps/\($0)" }
        let sources = try folders.flatMap { try SourceTree.sources(below: $0) }.filter { !Rules.writesOutput($0) }
        let findings = try Rules.wordFindings(sources, banned: Rules.bannedOutsideOutput)
        #expect(findings.isEmpty, "\(findings.listing)")
        for code in [
            "print(report)", "FileHandle.standardOutput.write(data)", "fputs(text, stdout)", "exit(0)",
            "Posix.write(bytes, to: 1)", "Runar.exit(withError: error)", "Foundation.exit(1)",
        ] {
            let planted = SourceText(path: "A.swift", text: code)
            #expect(try !Rules.wordFindings([planted], banned: Rules.bannedOutsideOutput).isEmpty, "\(code)")
        }
    }

    @Test func `no library has a client for a key access service or another server`() throws {
        let folders = Self.libraries.map { "Sources/\($0)" }
        let c = try folders.flatMap { SourceTree.paths(below: $0, suffixes: [".c", ".h"]) }
            .map { SourceText(path: $0, text: try SourceTree.text(of: $0)) }
        let swift = try folders.flatMap { try SourceTree.sources(below: $0) }
        // Sockets within the machine: the console and systemd.
        let local = try #require(swift.first { $0.path == "Sources/Platform/System/UnixSocket.swift" })
        #expect(try !SourceTree.text(of: local.path).contains("AF_INET"))
        let sources = swift.filter { $0.path != local.path } + c
        let findings = try Rules.wordFindings(sources, banned: Rules.bannedClients)
        #expect(findings.isEmpty, "\(findings.listing)")
        let planted = SourceText(path: "A.swift", text: "let client = URLSession.shared")
        #expect(try Rules.wordFindings([planted], banned: Rules.bannedClients).count == 1)
    }

    @Test func `sealing and opening a NanoTDF imports no network`() throws {
        let sources = try SourceTree.sources(below: "Sources/Base/NanoTDF")
        let imported = Set(sources.flatMap { Rules.imports(of: $0) }.map(\.module))
        #expect(imported.contains("Crypto"))
        let allowed: Set = ["Essentials", "Failures", "Bytes", "Crypto", "CryptoExtras"]
        #expect(imported.isSubset(of: allowed), "\(imported.subtracting(allowed).sorted())")
    }

    @Test func `a failure that is dropped says why`() throws {
        let findings = try everything().flatMap(Rules.silentFailureFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `no marks of unfinished work`() throws {
        let findings = try everything().flatMap(Rules.markerFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `files are short`() throws {
        let c = try SourceTree.paths(below: "Sources", suffixes: [".c", ".h"])
            .map { SourceText(path: $0, text: try SourceTree.text(of: $0)) }
        let findings = (try everything() + c).flatMap(Rules.fileLengthFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }

    @Test func `functions fit on a screen`() throws {
        let findings = try everything().flatMap(Rules.functionLengthFindings)
        #expect(findings.isEmpty, "\(findings.listing)")
    }
}
