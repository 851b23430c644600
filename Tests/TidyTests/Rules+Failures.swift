internal import Failures

/// The codes of failures as the sources state them.
struct FailureCodes {
    /// The codes of one word.
    struct Entry: Equatable {
        var numbers: Set<String> = []
        var exitStatuses: Set<Int32> = []
        var httpStatuses: Set<Int> = []

        /// The row of the table in `docs/failures.md`.
        func row(_ slug: String) -> String {
            let columns = [
                exitStatuses.sorted().map(String.init), httpStatuses.sorted().map(String.init), numbers.sorted(),
            ]
            return "| `\(slug)` |"
                + columns.map { $0.isEmpty ? " |" : " \($0.joined(separator: ", ")) |" }.joined()
        }
    }

    private(set) var entries: [String: Entry] = [:]
    /// The places whose numbers or exit statuses do not exist.
    private(set) var unknown: [String] = []

    /// Reads the codes of errors, of commands and of the HTTP API, and adds the kinds of the libraries.
    init(_ sources: [(path: String, text: String)]) {
        for (path, text) in sources where text.contains("Failure") {
            for text in Self.literal(text) { read(text, at: path) }
        }
        for (name, code) in RunarErrorCode.all {
            let status = code.exitStatus
            entries[code.slug, default: Entry()].numbers.insert(name)
            entries[code.slug, default: Entry()].exitStatuses.insert(status.rawValue)
            entries[code.slug, default: Entry()].httpStatuses.insert(status.httpStatus)
        }
    }

    /// Returns the source with each word that it puts together, or names by a constant, as a literal.
    private static func literal(_ text: String) -> [String] {
        let text = text.replacing("CommandFailure.passphraseNeeded,", with: "\"passphrase-needed\",")
        guard text.contains("\\(kind.code)") else { return [text] }
        return text.matches(of: /Kind\(code: "([a-z]+)"/).map { text.replacing("\\(kind.code)", with: $0.1) }
    }

    private mutating func read(_ text: String, at path: String) {
        // Of errors, of commands and handlers, and of the API alone.
        let coded = /\bFailureCode\(\s*"([a-z-]+)",\s*\.(\w+),\s*\.(\w+)(?:,\s*http: (\d+))?\s*\)/
        let command = /\b(?:CommandFailure|self\.init)\(\s*"([a-z-]+)",\s*\.([a-zA-Z]+),/
        let http = /\bRouteFailure\(\s*(\d+),\s*"([a-z-]+)"/
        for match in text.matches(of: coded) {
            let number = "\(match.2)" == "unknown" ? nil : "\(match.2)"
            add("\(match.1)", number, "\(match.3)", match.4.flatMap { Int($0) }, at: path)
        }
        for match in text.matches(of: command) {
            let override = text[match.range.upperBound...].prefixMatch(of: /[\s\S]*?(?:http: (\d+))?\n? *\)\n/)
            add("\(match.1)", nil, "\(match.2)", override?.1.flatMap { Int($0) }, at: path)
        }
        for match in text.matches(of: http) {
            entries["\(match.2)", default: Entry()].httpStatuses.formUnion(Int(match.1).map { [$0] } ?? [])
        }
    }

    private mutating func add(_ slug: String, _ number: String?, _ status: String, _ http: Int?, at path: String) {
        guard let status = ExitStatus.allCases.first(where: { "\($0)" == status }) else {
            unknown.append("\(path): \(slug), \(status)")
            return
        }
        var entry = entries[slug] ?? Entry()
        entry.exitStatuses.insert(status.rawValue)
        entry.httpStatuses.insert(http ?? status.httpStatus)
        if let number {
            // The name in C of a kind, from its name in Swift.
            let name = number.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
            if RunarErrorCode.all.contains(where: { $0.name == name }) {
                entry.numbers.insert(name)
            } else {
                unknown.append("\(path): \(slug), \(number)")
            }
        }
        entries[slug] = entry
    }
}

extension Rules {
    /// The error types that other targets can name and that have no code of their own, with the reasons.
    static let errorsWithoutCode: [String: String] = [
        "EventError": "bytes of a peer: the protocol reports a violation",
        "FrameError": "bytes of a peer: the protocol reports a violation",
        "MessageError": "bytes of a peer: the protocol reports a violation",
        "Misplacement": "a mistake in the options of the STUN server, reported as `usage`",
        "ReachMessageError": "bytes of a peer: the protocol reports a violation",
        "Reason": "a datagram that discovery ignores",
        "RecordError": "bytes of a peer: the protocol reports a violation",
        "RecordProblem": "bytes of a peer: the protocol reports a violation",
        "STUNError": "bytes of a server or client of STUN, which are ignored",
        "WireError": "bytes of a peer: the request fails with a ServiceFailure",
        "ServiceFailure": "the failure on the wire: RunarError adds the path of the request",
        "MalformedColumn": "the database reports a StorageError",
        "JSONProblem": "the reader of the text names the text in its own error",
        "NodeCertificateError": "callers wrap it: RunarKeychainError, TransportError, ConsoleCertificateError",
        "KeyExchangeFailure": "SealedMessageError wraps it",
        "FileRefusal": "the answer to a sender: NodeError wraps it",
        "Failure": "FileLock: KeychainError and DataDirectoryError name what is locked",
        "MulticastError": "the node wraps it in NodeError, which names the local network",
        "TerminalPromptError": "the command adds its own advice",
        "Problem": "QRCodeScanner: an app of an Apple system shows it",
        "HTTPServerError": "the program names the server: ConsoleError wraps it",
        "HeaderFieldError": "a route decides whether its own text or that of the client is wrong",
        "ConsoleError": "the node names the console or the control socket",
        "ConsoleCertificateError": "the state of the console on the local network contains it",
        "OffloadError": "a frame or packet of the tunnel device, which is dropped",
        "RouteFailure": "the answer of the API itself",
    ]

    /// Returns the error types of other targets that neither conform to `CodedError` nor are exempt.
    static func uncodedErrorFindings(_ sources: [SourceText]) -> [Finding] {
        let declaration = /^\s*(?:public|package) (?:indirect )?(?:final )?(?:enum|struct|class) (\w+)\b.*:.*\bError\b/
        let conformance = /\b(?:extension|enum|struct|class) (\w+)\b[^{]*:[^{]*\bCodedError\b/
        let coded = Set(
            sources.flatMap { source in
                source.code.filter { $0.contains("CodedError") }
                    .compactMap { $0.firstMatch(of: conformance).map { "\($0.1)" } }
            }
        )
        return sources.flatMap { source in
            source.code.enumerated().compactMap { index, line in
                guard line.contains("Error"), let name = line.firstMatch(of: declaration).map({ "\($0.1)" }),
                    !coded.contains(name),
                    errorsWithoutCode[name] == nil
                else { return nil }
                let rule = "\(name) has no code: make it a CodedError, or give a reason in errorsWithoutCode"
                return Finding(path: source.path, line: index + 1, rule: rule)
            }
        }
    }
}
