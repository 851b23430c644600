internal import Bytes
internal import TestSupport
internal import Testing

@Suite("Text encodings") struct TextEncodingTests {
    let vectors: TextVectors

    init() throws {
        vectors = try TextVectors.load()
    }

    @Test func `the vectors cover every encoding`() {
        for encoding in TextEncoding.allCases {
            #expect(vectors.valid.filter { $0.encoding == encoding }.count >= 7)
            #expect(vectors.invalid.filter { $0.encoding == encoding }.count >= 5)
        }
    }

    @Test func `valid vectors encode and decode`() throws {
        for vector in vectors.valid {
            let bytes = try Hex.decode(vector.bytes)
            #expect(vector.encoding.encode(bytes) == vector.text)
            #expect(try vector.encoding.decode(vector.text) == bytes, "\(vector)")
        }
    }

    @Test func `tolerated forms decode to the same bytes`() throws {
        for vector in vectors.tolerated {
            #expect(Hex.encode(try vector.encoding.decode(vector.text)) == vector.bytes, "\(vector)")
        }
    }

    @Test func `invalid vectors are refused for the stated reason`() throws {
        for vector in vectors.invalid {
            let error = #expect(throws: BytesError.self, "\(vector)") { try vector.encoding.decode(vector.text) }
            #expect(error?.name == vector.error, "\(vector)")
        }
    }

    @Test(arguments: TextEncoding.allCases) func `random bytes round trip`(encoding: TextEncoding) throws {
        var random = SplitMix64(seed: 7)
        for count in 0...96 {
            let bytes = random.bytes(count: count)
            #expect(try encoding.decode(encoding.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: TextEncoding.allCases) func `damaged text never crashes`(encoding: TextEncoding) {
        let texts = vectors.valid.filter { $0.encoding == encoding }.map(\.text)
        neverCrash(onTexts: texts, rounds: 4_000) { text in
            let bytes = try encoding.decode(text)
            #expect(encoding.encode(bytes) == text || !encoding.isInjective)
        }
    }

    @Test func `the wrong character is named by its place among the scalars`() {
        #expect(throws: BytesError.invalidCharacter("é", position: 2)) { try Hex.decode("00é0") }
        #expect(throws: BytesError.invalidCharacter("\u{301}", position: 3)) { try Hex.decode("000\u{301}") }
        #expect(throws: BytesError.invalidCharacter("=", position: 3)) { try Base64URL.decode("Zm8=") }
        #expect(throws: BytesError.invalidCharacter("0", position: 7)) { try CheckedBase32.decode("aa-aa-a0") }
        let error = BytesError.invalidCharacter("\u{1B}", position: 0)
        #expect(error.description == #"the character \u{1B} at position 1 is not allowed"#)
    }
}

@Suite("Base64URL with padding") struct PaddedBase64URLTests {
    @Test func `padding fills up to a multiple of four characters`() throws {
        for (count, text) in ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="].enumerated() {
            let bytes = [UInt8]("foob".utf8.prefix(count))
            #expect(Base64URL.encode(bytes, padded: true) == text)
            #expect(try Base64URL.decode(text, padding: .required) == bytes)
            #expect(try Base64URL.decode(text, padding: .optional) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF], padded: true) == "-_8=")
    }

    @Test func `padded text equals that of Base64 except for two characters`() throws {
        var random = SplitMix64(seed: 8)
        for count in 0...96 {
            let bytes = random.bytes(count: count)
            let text = Base64URL.encode(bytes, padded: true)
            let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
            #expect(String(standard) == Base64.encode(bytes))
            #expect(try Base64URL.decode(text, padding: .required) == bytes)
        }
    }

    @Test(arguments: [
        "Zg", "Zm8", "Zg=", "Zg===", "Zm9v====", "Zh==", "Zm9=", "=", "====", "Zg==Zg==", "Zg== ", "+/8=",
    ])
    func `required padding refuses another form`(text: String) {
        #expect(throws: BytesError.self) { try Base64URL.decode(text, padding: .required) }
    }

    @Test func `optional padding accepts none`() throws {
        #expect(try Base64URL.decode("Zg", padding: .optional) == [0x66])
        #expect(try Base64URL.decode("Zm8", padding: .optional) == [0x66, 0x6F])
    }

    @Test(arguments: ["Zg=", "Zg===", "Zm9v====", "Zh==", "Zh", "Zm9=", "Zm9", "=", "Zg==Zg==", "Z"])
    func `optional padding refuses a part of it`(text: String) {
        #expect(throws: BytesError.self) { try Base64URL.decode(text, padding: .optional) }
    }

    @Test func `padding is refused unless asked for`() {
        #expect(throws: BytesError.invalidCharacter("=", position: 2)) { try Base64URL.decode("Zg==") }
        #expect(throws: BytesError.invalidCharacter("=", position: 2)) {
            try Base64URL.decode("Zg==", padding: .absent)
        }
    }

    @Test(arguments: [Base64URL.Padding.required, .optional])
    func `damaged padded text never crashes`(padding: Base64URL.Padding) {
        neverCrash(onTexts: ["Zg==", "Zm8=", "Zm9v", "-_8="]) { text in
            let bytes = try Base64URL.decode(text, padding: padding)
            let isPadded = padding == .required || text.utf8.last == UInt8(ascii: "=")
            #expect(Base64URL.encode(bytes, padded: isPadded) == text)
        }
    }
}

@Suite("CheckedBase32") struct CheckedBase32Tests {
    static let bytes = [UInt8](0..<32)
    static let text = CheckedBase32.encode(bytes)
    static let alphabet = [Character]("abcdefghijklmnopqrstuvwxyz234567")

    @Test func `thirty-two bytes take 58 characters`() {
        #expect(Self.text.count == 58)
    }

    @Test func `every wrong character is noticed`() {
        for position in 0..<Self.text.count {
            for wrong in Self.alphabet {
                var characters = [Character](Self.text)
                guard characters[position] != wrong else { continue }
                characters[position] = wrong
                #expect(throws: BytesError.badChecksum) { try CheckedBase32.decode(String(characters)) }
            }
        }
    }

    @Test func `every exchange of neighbours is noticed`() {
        for position in 1..<Self.text.count {
            var characters = [Character](Self.text)
            guard characters[position] != characters[position - 1] else { continue }
            characters.swapAt(position, position - 1)
            #expect(throws: BytesError.badChecksum) { try CheckedBase32.decode(String(characters)) }
        }
    }

    @Test func `up to four wrong characters are noticed`() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<5_000 {
            var characters = [Character](Self.text)
            for position in characters.indices.shuffled(using: &random).prefix(.random(in: 2...4, using: &random)) {
                let others = Self.alphabet.filter { $0 != characters[position] }
                characters[position] = others.randomElement(using: &random) ?? "a"
            }
            #expect(throws: BytesError.badChecksum) { try CheckedBase32.decode(String(characters)) }
        }
    }

    @Test func `a missing or superfluous character is noticed`() {
        for position in 0..<Self.text.count {
            var shorter = [Character](Self.text)
            shorter.remove(at: position)
            #expect(throws: BytesError.self) { try CheckedBase32.decode(String(shorter)) }
            for extra in Self.alphabet {
                var longer = [Character](Self.text)
                longer.insert(extra, at: position)
                #expect(throws: BytesError.self) { try CheckedBase32.decode(String(longer)) }
            }
        }
    }

    @Test func `the largest value round trips and the next is refused`() throws {
        let largest = [UInt8](repeating: 0xA5, count: CheckedBase32.maximumByteCount)
        #expect(try CheckedBase32.decode(CheckedBase32.encode(largest)) == largest)
        #expect(throws: BytesError.tooLong(limit: 1_652, found: 1_653)) {
            try CheckedBase32.decode(String(repeating: "a", count: 1_653))
        }
    }
}
