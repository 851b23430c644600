internal import Bytes
internal import Testing

@Suite("Nesting of JSON") struct JSONNestingTests {
    @Test(
        arguments: [
            ("", 0), ("7", 0), ("[]", 1), ("[1,[2],[3]]", 2), (#"{"a":[{"b":{}}]}"#, 4), (#"["[[[[",{}]"#, 2),
            (#"["\"[[[[\\",[]]"#, 2), ("[[[", 3), ("]]]", 0), (#"["\u005b[["#, 1),
        ]
    )
    func `arrays and objects count, what stands in strings does not`(text: String, depth: Int) {
        #expect(JSONNesting.isAtMost(depth, in: text.utf8))
        #expect(depth == 0 || !JSONNesting.isAtMost(depth - 1, in: text.utf8))
    }

    @Test func `a text in two or four bytes a character is none`() {
        let text = "[\"\u{122}\",[[[]]]]"
        let wide: [UInt8] = text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        #expect(!JSONNesting.isAtMost(in: wide))
        #expect(!JSONNesting.isAtMost(in: [0, 0, 0, UInt8(ascii: "7")] as [UInt8]))
        #expect(JSONNesting.isAtMost(in: text.utf8))
    }
}
