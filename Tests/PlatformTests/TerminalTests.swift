internal import Bytes
internal import Testing

@testable internal import Platform

@Suite("Terminal") struct TerminalTests {
    @Test(arguments: [
        ("plain text, ünïcode 東京", "plain text, ünïcode 東京"),
        ("\u{1B}[31mred\u{07}", #"\u{1B}[31mred\u{7}"#),
        ("a\nb\r\tc", #"a\nb\r\tc"#),
        ("\u{202E}gpj.exe", #"\u{202E}gpj.exe"#),
        ("\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}", #"\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}"#),
        ("zero\u{200B}width\u{FEFF}\u{AD}", #"zero\u{200B}width\u{FEFF}\u{AD}"#),
        ("\u{9B}31m\u{85}\u{7F}", #"\u{9B}31m\u{85}\u{7F}"#),
        ("\u{2028}\u{2029}\u{A0}", #"\u{2028}\u{2029}\u{A0}"#),
        ("\u{E0041}\u{3164}\u{E000}", #"\u{E0041}\u{3164}\u{E000}"#),
        ("👩‍💻 ❤️", "👩‍💻 ❤️"),
        ("a\u{200D}b\u{FE0F}", #"a\u{200D}b\u{FE0F}"#),
        ("", ""),
    ])
    func `invisible characters and terminal commands become visible`(text: String, escaped: String) {
        #expect(Terminal.escaped(text) == escaped)
    }

    @Test func `escaped text never has a control character`() {
        for value in UInt32(0)...0x2_FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let escaped = Terminal.escaped(String(Character(scalar)))
            let isSafe = escaped.unicodeScalars.allSatisfy { scalar in
                scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
                    && scalar.properties.isBidiControl == false
            }
            if !isSafe { Issue.record("\(String(value, radix: 16))") }
        }
    }

    @Test func `long text is cut with an ellipsis`() {
        #expect(Terminal.escaped("abcdef", limit: 3) == "abc…")
        #expect(Terminal.escaped("abc", limit: 3) == "abc")
        #expect(Terminal.quoted("a\"b\n") == #""a"b\n""#)
    }

    @Test func `a prompt without a terminal fails with advice`() {
        let prompt = TerminalPrompt(path: "/dev/null")
        #expect(throws: TerminalPromptError.noTerminal) { try prompt.secret("Passphrase: ") }
        #expect(throws: TerminalPromptError.noTerminal) { try TerminalPrompt(path: "/none").line("Name: ") }
        #expect(TerminalPromptError.noTerminal.description.contains("key file"))
    }
}

@Suite("Clocks and randomness") struct ClockTests {
    @Test func `the monotonic clock begins near zero and never goes back`() {
        let clocks = Clocks.system()
        var last = clocks.monotonic()
        #expect(last >= .zero)
        for _ in 0..<1_000 {
            let now = clocks.monotonic()
            #expect(now >= last)
            last = now
        }
        #expect(clocks.wallSeconds() > 1_700_000_000)
    }

    @Test func `random bytes have the asked count and do not repeat`() {
        var random = SystemRandom()
        for count in 0...40 { #expect(random.bytes(count: count).count == count) }
        #expect(Set((0..<1_000).map { _ in random.bytes(count: 16) }).count == 1_000)
    }
}
