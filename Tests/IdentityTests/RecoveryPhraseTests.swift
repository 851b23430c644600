import Bytes
import TestSupport
import Testing

@testable import Identity

@Suite("Recovery phrase") struct RecoveryPhraseTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let entropy: String
        let words: String

        var testDescription: String { words }
    }

    private let words =
        "absent gorilla van acoustic humor firm title dolphin bulk barely citizen recall crane moment aspect appear "
        + "track phrase actual enforce steel spoon afraid benefit"

    @Test(arguments: try vectors(named: "Identity/phrases.json", as: [Row].self))
    func `the vectors of BIP-39 go both ways`(row: Row) throws {
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.entropy))
        #expect(RecoveryPhrase(masterKey: key).text == row.words)
        #expect(try RecoveryPhrase(parsing: row.words).masterKey == key)
    }

    @Test func `the list is sorted and told apart by four letters`() {
        #expect(RecoveryPhrase.wordList.count == 2048)
        #expect(RecoveryPhrase.wordList.sorted() == RecoveryPhrase.wordList)
        #expect(Set(RecoveryPhrase.wordList.map { $0.prefix(4) }).count == 2048)
        let lowerCase = RecoveryPhrase.wordList.allSatisfy { word in
            (3...8).contains(word.utf8.count) && word.utf8.allSatisfy { (97...122).contains($0) }
        }
        #expect(lowerCase)
    }

    @Test func `upper case and white space of any kind are tolerated`() throws {
        let expected = try RecoveryPhrase(parsing: words)
        let typed = "  \n" + words.uppercased().replacing(" ", with: " \t\r\n ") + "\u{00A0}\n"
        #expect(try RecoveryPhrase(parsing: typed) == expected)
    }

    @Test(arguments: [
        ("gorila", "gorilla"), ("gorlila", "gorilla"), ("gorillas", "gorilla"), ("gorxlla", "gorilla"),
        ("goril", "gorilla"), ("Gurilla", "gorilla"),
    ])
    func `a wrong word is named with its position and the nearest one`(typed: String, meant: String) throws {
        let error = try #require(throws: RecoveryPhraseError.self) {
            try RecoveryPhrase(parsing: words.replacing("gorilla", with: typed))
        }
        #expect(error == .unknownWord(typed, position: 2, suggestion: meant))
        #expect(error.description == "word 2, \"\(typed)\", is not on the list; did you mean \"gorilla\"?")
    }

    @Test(arguments: ["qqqqqqqq", "x", "\u{1B}[31m", String(repeating: "a", count: 500), "пример"])
    func `no word is suggested where none is near`(typed: String) throws {
        let error = try #require(throws: RecoveryPhraseError.self) {
            try RecoveryPhrase(parsing: words.replacing("gorilla", with: typed))
        }
        #expect(error == .unknownWord(typed, position: 2, suggestion: nil))
        #expect(!error.description.contains("\u{1B}"))
        #expect(error.description.utf8.count < 200)
    }

    @Test func `another number of words is refused`() {
        for count in [0, 1, 12, 23, 25, 1000] {
            let text = Array(repeating: "zoo", count: count).joined(separator: " ")
            #expect(throws: RecoveryPhraseError.wrongWordCount(found: count)) { try RecoveryPhrase(parsing: text) }
        }
    }

    @Test func `swapped words are noticed`() throws {
        var swapped = words.split(separator: " ").map(String.init)
        swapped.swapAt(3, 4)
        #expect(throws: RecoveryPhraseError.wrongChecksum) { try RecoveryPhrase(words: swapped) }
    }

    @Test func `every key survives`() throws {
        var random = SplitMix64(seed: 39)
        for _ in 0..<200 {
            let key = Ed25519PrivateKey(generating: &random)
            #expect(try RecoveryPhrase(parsing: RecoveryPhrase(masterKey: key).text).masterKey == key)
        }
    }

    @Test func `no text crashes the reader`() {
        neverCrash(onTexts: [words], rounds: 300) { text in _ = try RecoveryPhrase(parsing: text) }
    }
}
