internal import Foundation
internal import RegistrationModel
internal import TestSupport
internal import Testing

@Suite("Handles") struct HandleTests {
    @Test(arguments: ["abc", "alice", "a-b", "a--b", "123", "0x0", "abcdefghijklmnopqr", "xn-a", "ab--cd"])
    func `a handle within the rules is accepted`(text: String) throws {
        let handle = try Handle(text)
        #expect(handle.text == text)
        #expect("\(handle)" == text)
    }

    @Test(arguments: [
        ("", HandleError.tooShort(found: 0)), ("ab", .tooShort(found: 2)),
        ("abcdefghijklmnopqrs", .tooLong(found: 19)), ("Alice", .capitalLetter("A")), ("alicE", .capitalLetter("E")),
        ("al ice", .whiteSpace), (" alice", .whiteSpace), ("alice\n", .whiteSpace), ("alice\u{A0}", .whiteSpace),
        ("alice.arkavo.social", .dot), ("alicé", .notASCII("é")), ("alice٣", .notASCII("٣")),
        ("\u{430}lice", .notASCII("\u{430}")),
        ("alice\u{200B}", .notASCII("\u{200B}")), ("alice_b", .otherCharacter("_")), ("alice\0", .otherCharacter("\0")),
        ("alice@b", .otherCharacter("@")), ("-alice", .hyphenAtEdge), ("alice-", .hyphenAtEdge), ("---", .hyphenAtEdge),
        ("xn--alice", .internationalPrefix), ("admin", .reserved("admin")), ("mta-sts", .reserved("mta-sts")),
    ])
    func `a text that breaks a rule is refused with it`(text: String, error: HandleError) {
        #expect(throws: error) { try Handle(text) }
        #expect(error.description.contains("handle"))
    }

    @Test func `a long text is refused before it is looked at`() {
        #expect(throws: HandleError.tooLong(found: 1_000_000)) { try Handle(String(repeating: "A", count: 1_000_000)) }
        #expect(throws: HandleError.capitalLetter("A")) { try Handle(String(repeating: "A", count: 253)) }
    }

    @Test func `an account keeps a handle that was reserved later`() throws {
        #expect(try Handle(existing: "support").text == "support")
        #expect(throws: HandleError.whiteSpace) { try Handle(existing: "sup port") }
    }

    @Test func `every reserved text would be a handle`() throws {
        let reserved = ReservedHandles.sorted
        #expect(reserved.count > 100)
        for text in reserved {
            #expect(try Handle(existing: text).text == text)
            #expect(throws: HandleError.reserved(text)) { try Handle(text) }
        }
        for text in ["admin", "root", "www", "api", "mail", "support", "security", "identity", "register", "login"] {
            #expect(ReservedHandles.contains(text))
        }
        #expect(!ReservedHandles.contains("alice"))
    }

    @Test func `JSON has the text, and decoding names the rule`() throws {
        let json = try JSONEncoder().encode([Handle("alice")])
        #expect(json == Data(#"["alice"]"#.utf8))
        #expect(try JSONDecoder().decode([Handle].self, from: json) == [Handle("alice")])
        for (text, error) in [("Alice", HandleError.capitalLetter("A")), ("admin", .reserved("admin"))] {
            #expect(throws: error) { try JSONDecoder().decode([Handle].self, from: Data("[\"\(text)\"]".utf8)) }
        }
    }
}

@Suite("Domains of handles") struct HandleDomainTests {
    private func lines(_ name: String) throws -> [String] {
        String(decoding: try vector(named: "RegistrationModel/\(name)"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test func `valid handles of AT Protocol are read in lower case`() throws {
        let texts = try lines("handles-valid.txt")
        #expect(texts.count == 23)
        for text in texts {
            let handle = try QualifiedHandle(text)
            #expect(handle.text == text.lowercased())
            #expect(try QualifiedHandle(handle.text) == handle)
        }
    }

    @Test func `invalid handles of AT Protocol are refused`() throws {
        let texts = try lines("handles-invalid.txt")
        #expect(texts.count == 15)
        for text in texts {
            let error = #expect(throws: DomainNameError.self) { try QualifiedHandle(text) }
            #expect(error?.description.isEmpty == false)
        }
    }

    @Test(arguments: [
        ("", DomainNameError.emptyLabel), (".", .emptyLabel), ("a..b", .emptyLabel), ("a.b.", .emptyLabel),
        ("alice", .singleLabel), ("a.-b", .hyphenAtEdge(label: "-b")), ("a-.b", .hyphenAtEdge(label: "a-")),
        ("john.0", .topLevelWithoutLetter("0")), ("192.0.2.1", .topLevelWithoutLetter("1")),
        ("jo_hn.test", .invalidCharacter("_")), ("jöhn.test", .invalidCharacter("ö")),
        ("alice。test", .invalidCharacter("。")), ("\u{212A}.test", .invalidCharacter("\u{212A}")),
        (String(repeating: "a", count: 64) + ".test", .labelTooLong(found: 64)),
    ])
    func `an invalid handle is refused with the rule`(text: String, error: DomainNameError) {
        #expect(throws: error) { try QualifiedHandle(text) }
    }

    @Test func `a name has at most 253 bytes`() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(try QualifiedHandle(longest).text.utf8.count == 253)
        #expect(throws: DomainNameError.tooLong(limit: 253, found: 254)) { try QualifiedHandle(longest + "b") }
        #expect(throws: DomainNameError.tooLong(limit: 234, found: 253)) { try HandleDomain(longest) }
    }

    @Test func `every handle fits in the longest domain`() throws {
        let label = String(repeating: "a", count: 63)
        let domain = try HandleDomain([label, label, label, String(repeating: "b", count: 42)].joined(separator: "."))
        #expect(domain.text.utf8.count == HandleDomain.byteLimit)
        let handle = try Handle(String(repeating: "h", count: 18))
        let full = handle.qualified(by: domain)
        #expect(full.text.utf8.count == 253)
        #expect(domain.handle(of: full) == handle)
    }

    @Test func `a handle is found in its own domain alone`() throws {
        let domain = try HandleDomain("Arkavo.Social")
        let alice = try Handle("alice").qualified(by: domain)
        #expect(domain.text == "arkavo.social")
        #expect(alice.text == "alice.arkavo.social")
        #expect(domain.handle(of: alice) == (try Handle("alice")))
        #expect(domain.handle(of: try QualifiedHandle("ALICE.ARKAVO.SOCIAL")) == (try Handle("alice")))
        #expect(domain.handle(of: try QualifiedHandle("support.arkavo.social"))?.text == "support")
        let others = [
            "arkavo.social", "alice.bsky.social", "a.alice.arkavo.social", "alicearkavo.social", "al.arkavo.social",
            "alice.xarkavo.social", "xn--alice.arkavo.social", "alice.arkavo.social.example.org",
        ]
        for text in others { #expect(domain.handle(of: try QualifiedHandle(text)) == nil, "\(text)") }
    }

    @Test func `top-level names that AT Protocol excludes have no handles`() throws {
        for name in ["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion"] {
            #expect(throws: DomainNameError.topLevelNotAllowed(name)) { try HandleDomain("a.\(name.uppercased())") }
            #expect(throws: DomainNameError.topLevelNotAllowed(name)) { try HandleDomain(name) }
            let handle = try QualifiedHandle("a.\(name)")
            #expect(throws: DomainNameError.topLevelNotAllowed(name)) { try handle.checkResolvable() }
        }
        #expect(throws: Never.self) { try QualifiedHandle("local.example.com").checkResolvable() }
    }

    @Test func `a server on the local host has a domain for development`() throws {
        let local = try HandleDomain.standard(forRelyingParty: "localhost")
        #expect(local.text == "localhost.test")
        #expect(local.isForDevelopment)
        let standard = try HandleDomain.standard(forRelyingParty: "identity.arkavo.net")
        #expect(standard.text == "identity.arkavo.net")
        #expect(!standard.isForDevelopment)
        #expect(try !HandleDomain("test.arkavo.net").isForDevelopment)
    }

    @Test func `JSON has the text, and decoding names the rule`() throws {
        let domain = try HandleDomain("arkavo.social")
        let handle = try QualifiedHandle("alice.arkavo.social")
        #expect(try JSONEncoder().encode([domain]) == Data(#"["arkavo.social"]"#.utf8))
        #expect(try JSONEncoder().encode([handle]) == Data(#"["alice.arkavo.social"]"#.utf8))
        #expect(try JSONDecoder().decode([HandleDomain].self, from: Data(#"["Arkavo.social"]"#.utf8)) == [domain])
        #expect(throws: DomainNameError.singleLabel) {
            try JSONDecoder().decode([QualifiedHandle].self, from: Data(#"["alice"]"#.utf8))
        }
    }

    @Test func `no text crashes the readers`() throws {
        let texts = try lines("handles-valid.txt") + lines("handles-invalid.txt") + ["alice", "xn--alice", "аlice"]
        let domain = try HandleDomain("test")
        neverCrash(onTexts: texts) { text in
            if let handle = try? Handle(text) { #expect(handle.text == text) }  // or it is refused
            if let handle = try? QualifiedHandle(text) { _ = domain.handle(of: handle) }  // or it is refused
            _ = try HandleDomain(text)
        }
    }
}
