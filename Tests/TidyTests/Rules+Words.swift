extension Rules {
    /// A word that must not occur in code, with the reason.
    struct BannedWord {
        let pattern: String
        let reason: String

        init(_ pattern: String, _ reason: String) {
            self.pattern = pattern
            self.reason = reason
        }
    }

    /// Nowhere.
    static let bannedEverywhere = [
        BannedWord(#"\btry!"#, "a failure must be handled, not trapped"),
        BannedWord(#"\bas!"#, "a failed cast must be handled, not trapped"),
        BannedWord(#"\bfatalError\("#, "broken invariants use precondition with the state in the message"),
        BannedWord(#"\bTask\.detached\b"#, "detached tasks have no owner"),
        BannedWord(#"\bThread\.sleep\b|\busleep\(|\bTask\.sleep\(nanoseconds"#, "wait for the event, not for time"),
        BannedWord(#"\breadabilityHandler\s*="#, "Dispatch crashes when the descriptor is closed, use a thread"),
    ]

    /// The words that are banned in test targets and in the targets that tests share.
    static let bannedInTests = [
        BannedWord(#"\bTask\s*(<[^>]*>)?\s*\.\s*sleep\b"#, "wait for the event, not for time"),
        BannedWord(#"\bProcess\(\)"#, "Foundation's Process leaks descriptors, use SpawnedProcess"),
    ]

    /// Words for the file that defines `Promise` alone.
    static let bannedOutsidePromise = [
        BannedWord(
            #"\b(with(Checked|Unsafe)(Throwing)?|Checked|Unsafe)Continuation\b"#,
            "a task waits with the primitives of Concurrency"
        )
    ]

    /// Whether a source may use continuations.
    static func definesPromise(_ source: SourceText) -> Bool {
        source.path == "Sources/Base/Concurrency/Promise.swift"
    }

    /// Whether a source may pause for a time: helper programs make load at a fixed pace.
    static func isTimed(_ source: SourceText) -> Bool { source.path.hasPrefix("Tests/Helpers/") }

    /// Not in libraries; the apps are where text meets a person.
    static let bannedInLibraries = [
        BannedWord(#"(^|[^.\w])print\("#, "libraries do not print"),
        BannedWord(#"\bdebugPrint\(|\bdump\("#, "libraries do not print"),
    ]

    /// Not in the command outside ``writesOutput(_:)``: a write that fails must end it, with its own exit status.
    static let bannedOutsideOutput = [
        BannedWord(
            #"(^|[^.\w])(print|debugPrint|dump|puts|fputs|fwrite|putchar|vprintf)\(|\bFileHandle\.standardOutput\b"#,
            "Output alone writes standard output"
        ),
        BannedWord(#"\b(STDOUT_FILENO|stdout)\b"#, "Output alone writes standard output"),
        BannedWord(#"\bPosix\.write\(|\bLibc\.write\("#, "Output alone writes standard output"),
        BannedWord(#"\bexit\(withError|(^|[^\w])(Foundation\.|Libc\.)?_?exit\("#, "Output.end knows of a failed write"),
    ]

    /// Whether a source may write standard output and end the process.
    static func writesOutput(_ source: SourceText) -> Bool {
        source.path == "Sources/Apps/CommandKit/Output/Output.swift"
    }

    /// Not in libraries, which connect to members alone: other services have clients over TCP.
    static let bannedClients = [
        BannedWord(
            #"\b(URLSession|URLRequest|FoundationNetworking|NWConnection|ClientBootstrap|SOCK_STREAM)\b"#,
            "a library connects to members alone"
        )
    ]

    /// Not in protocol targets, which get time, randomness and I/O as arguments.
    static let bannedInProtocols = [
        BannedWord(#"\bTask\b"#, "a protocol value has no tasks"),
        BannedWord(#"\b(async|await|actor)\b"#, "a protocol value never waits"),
        BannedWord(#"\b(ContinuousClock|SuspendingClock|DispatchTime|clock_gettime)\b"#, "time is an argument"),
        BannedWord(#"\bDate\(\)|\bDate\.now\b|\bInstant\.now\b|(?<!\bturn)\.now\b"#, "time is an argument"),
        BannedWord(#"\bSystemRandomNumberGenerator\b"#, "randomness is an argument"),
        BannedWord(#"\.random\((?![^)]*using:)"#, "randomness is an argument"),
        BannedWord(#"\.(shuffled|shuffle|randomElement)\(\)"#, "randomness is an argument"),
        BannedWord(#"\bPrivateKey\(\)"#, "keys are made outside and given to the protocol"),
        BannedWord(#"\b(FileHandle|FileManager|ProcessInfo|URLSession)\b"#, "a protocol value does no I/O"),
        BannedWord(#"\b(socket|sendto|recvfrom|fopen|getenv|pthread_create)\("#, "a protocol value does no I/O"),
    ]

    /// Modules that a protocol target may not import.
    static let bannedProtocolImports: Set = [
        "Foundation", "FoundationEssentials", "Essentials", "Libc", "Glibc", "Darwin", "Musl", "Dispatch", "Security",
        "os", "Synchronization",
    ]

    /// Returns the places in the code of `sources` where one of `words` occurs.
    static func wordFindings(_ sources: [SourceText], banned words: [BannedWord]) throws -> [Finding] {
        let patterns = try words.map { (pattern: try LinePattern($0.pattern), reason: $0.reason) }
        // Almost no line has any of them, so all are looked for at once.
        let all = try LinePattern(words.map { "(?:\($0.pattern))" }.joined(separator: "|"))
        return sources.flatMap { source in
            source.code.indices.filter { all.firstMatch(in: source.code[$0]) != nil }.flatMap { index in
                patterns.compactMap { word in
                    word.pattern.firstMatch(in: source.code[index]).map { found in
                        Finding(path: source.path, line: index + 1, rule: "`\(found)`: \(word.reason)")
                    }
                }
            }
        }
    }

    /// `try?` drops a reason; a comment on the same line must justify that.
    static func silentFailureFindings(_ source: SourceText) -> [Finding] {
        source.code.indices
            .filter { source.code[$0].contains("try?") && source.code[$0].contains(/\btry\?/) }
            .filter { !source.hasComment(line: $0) }
            .map { Finding(path: source.path, line: $0 + 1, rule: "`try?` without its reason on the same line") }
    }

    /// A noncopyable value must not perform clean-up.
    ///
    /// Optimized code does not run its `deinit` where an error leaves an asynchronous function, so that a file stays behind.
    /// It releases instances of classes.
    static func cleanupFindings(_ source: SourceText) -> [Finding] {
        guard source.code.contains(where: { $0.contains(/^\s*deinit\b/) }) else { return [] }
        return source.code.indices.filter { source.code[$0].contains(/\b(struct|enum)\b.*~Copyable/) }
            .map { Finding(path: source.path, line: $0 + 1, rule: "a value with a `deinit`: make it a class") }
    }

    /// Whether values without copies may clean up: those of the loop are properties of its class, never of a function.
    static func belongsToLoop(_ source: SourceText) -> Bool { source.path.hasPrefix("Sources/Transport/QUIC/Loop/") }

    /// Marks of unfinished work, in code and comments.
    static func markerFindings(_ source: SourceText) -> [Finding] {
        let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
        return source.lines.indices.flatMap { index in
            markers.filter { source.lines[index].contains($0) && !source.code[index].contains($0) }
                .map { Finding(path: source.path, line: index + 1, rule: "`\($0)`: finish it or leave it out") }
        }
    }

    /// Returns the paths of one machine, which have no place in a project.
    static func machinePathFindings(path: String, text: String) throws -> [Finding] {
        let roots = ["/" + "work/", "/" + "root/", "/" + "build/runar", "/" + "Users/", "/" + "home/"]
        guard roots.contains(where: text.contains) else { return [] }
        let pattern = try Regex("(^|[\\s\"'`(=:])(" + roots.joined(separator: "|") + ")[\\w.-]+")
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { $0.element.firstMatch(of: pattern) != nil }
            .map { Finding(path: path, line: $0.offset + 1, rule: "a path of one machine") }
    }
}
