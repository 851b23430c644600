internal import Failures
internal import Testing

@Suite("Failures") struct FailureTests {
    private let sources: [SourceText]
    private let codes: FailureCodes

    /// Read once for all tests.
    private static let everything = Result {
        let sources = try SourceTree.sources(below: "Sources")
        return (sources, FailureCodes(sources.map { ($0.path, $0.lines.joined(separator: "\n")) }))
    }

    init() throws {
        (sources, codes) = try Self.everything.get()
    }

    /// The words with several exit statuses, with the reasons.
    private static let intended: [String: String] = [
        "ambiguous-network": "no network was named, or the name fits several",
        "bad-answer": "of a STUN server, or a text that a person pasted",
        "bad-key": "an argument, or a stored or imported key",
        "bad-payload": "an argument, or the payload of a request",
        "bad-setting": "on the command line, in a request, or in the file",
        "cancelled": "by a signal, or within the node",
        "damaged": "stored keys, or a file on its way",
        "invitation-burnt": "for the joiner, or for the inviter",
        "invitation-expired": "for the joiner, or for the inviter",
        "invitation-withdrawn": "for the joiner, or for the inviter",
        "no-address": "no address is known, or none was given",
        "no-answer": "of a server, or of a person",
        "no-console": "it is switched off, or cannot listen",
        "no-console-lan": "it is switched off, or cannot listen",
        "no-home": "no place for it is known, or it does not exist",
        "no-terminal": "to chat, or to confirm something",
        "no-text": "an argument is missing, or the input has none",
        "own-device": "as a peer, or as a member to revoke",
    ]

    @Test func `every error that other targets can name has a code`() throws {
        let findings = Rules.uncodedErrorFindings(sources)
        #expect(findings.isEmpty, "\(findings.listing)")
        let planted = ["package enum OddError: Error, Hashable {", "public struct Odd: Sendable, Error {}"]
        for text in planted {
            #expect(Rules.uncodedErrorFindings([SourceText(path: "A.swift", text: text)]).count == 1, "\(text)")
            let coded = "\(text)\n}\nextension Odd: CodedError {\n}\nextension OddError: CodedError {\n}"
            #expect(Rules.uncodedErrorFindings([SourceText(path: "A.swift", text: coded)]).isEmpty)
        }
        let names = sources.flatMap { source in
            source.code.filter { $0.contains("Error") }
                .compactMap { $0.firstMatch(of: /(?:enum|struct) (\w+)\b.*Error\b/)?.1 }
        }
        let gone = Rules.errorsWithoutCode.keys.filter { !names.map(String.init).contains($0) }
        #expect(gone.isEmpty, "exempt, and declared nowhere: \(gone)")
    }

    @Test func `the document lists every code with its exit status, status of HTTP and number`() throws {
        #expect(codes.unknown.isEmpty, "\(codes.unknown)")
        let found = codes.entries.sorted { $0.key < $1.key }.map { $0.value.row($0.key) }
        let listed = try SourceTree.text(of: "docs/failures.md").split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| `") }
        let (missing, superfluous) = (found.filter { !listed.contains($0) }, listed.filter { !found.contains($0) })
        #expect(missing.isEmpty, "docs/failures.md lacks:\n\(missing.joined(separator: "\n"))")
        #expect(superfluous.isEmpty, "no source states:\n\(superfluous.joined(separator: "\n"))")
        #expect(listed == listed.sorted { $0.replacing("`", with: "!") < $1.replacing("`", with: "!") })
        #expect(found.count > 200)
    }

    @Test func `a code has one exit status, unless the reasons differ`() {
        let several = codes.entries.filter { $0.value.exitStatuses.count > 1 }.keys.sorted()
        #expect(several == Self.intended.keys.sorted())
    }

    @Test func `a number has one meaning`() {
        let numbers = RunarErrorCode.all.map(\.code.rawValue)
        #expect(Set(numbers).count == numbers.count && Set(RunarErrorCode.all.map(\.code.slug)).count == numbers.count)
    }

    @Test func `the manual states the exit status of each code that it names`() throws {
        let text = try SourceTree.text(of: "docs/runar-command.md")
        var pairs = text.matches(of: /`([a-z]+(?:-[a-z]+)*)` \((?:[^()`]*; )?(\d\d)\)/).map { ("\($0.1)", "\($0.2)") }
        for row in text.split(separator: "\n").map({ $0.split(separator: "|").map { $0.trimming } })
        where row.count == 3 && row[2].wholeMatch(of: /\d\d/) != nil {
            pairs += Rules.quoted(in: [row[1]]).map { ($0, row[2]) }
        }
        for (slug, status) in pairs {
            let statuses = codes.entries[slug]?.exitStatuses ?? []
            #expect(statuses.contains(Int32(status) ?? 0), "`\(slug)` (\(status)), not \(statuses.sorted())")
        }
        #expect(pairs.count > 30)
        let rows = Rules.column("Code", of: text).compactMap { Int32($0) }
        // 141 is the status after SIGPIPE, which is no failure.
        #expect(Set(ExitStatus.allCases.map(\.rawValue) + [141]).isSubset(of: rows), "\(rows)")
    }

    @Test func `the console has texts only for codes that exist`() throws {
        let text = try SourceTree.text(of: "Sources/Apps/ConsolePages/web/texts.js")
        let block = try #require(text.split(separator: "\n  failures: {").last?.split(separator: "\n  },").first)
        let slugs = block.matches(of: /\n    "?([a-z-]+)"?: "/).map { "\($0.1)" }
        #expect(slugs.filter { codes.entries[$0] == nil } == [])
        #expect(slugs.count > 30)
    }
}

extension Substring {
    fileprivate var trimming: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
