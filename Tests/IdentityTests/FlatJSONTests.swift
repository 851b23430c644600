import TestSupport
import Testing

@testable import Identity

@Suite("Flat JSON") struct FlatJSONTests {
    private func read(_ text: String) throws -> FlatJSON { try FlatJSON(text, of: "a text") }

    @Test func `strings, whole numbers and null are read`() throws {
        let json = try read(
            " {\n \"a\" : \"x\" ,\t\"b\":18446744073709551615,\r\"c\":null,\"d\":0, \"e\":\"\"} \n"
        )
        #expect(try json.string("a") == "x")
        #expect(try json.integer("b") == .max)
        #expect(try json.integerOrNull("c") == nil)
        #expect(try json.integerOrNull("d") == 0)
        #expect(try json.string("e").isEmpty)
        #expect(json["f"] == nil)
        #expect(throws: IdentityError.self) { try json.integerOrNull("f") }
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u5BB6""#, "Aé家"),
        (#""\ud83d\udc6a""#, "👪"), ("\"👪é\u{7F}\"", "👪é\u{7F}"), (#""\u0000""#, "\0"),
    ])
    func `escapes are read`(literal: String, value: String) throws {
        #expect(try Array(read("{\"a\":\(literal)}").string("a").utf8) == Array(value.utf8))
    }

    @Test(arguments: [
        #""\ud83d""#, #""\udc6a""#, #""\ud83d\u0041""#, #""\ud83dx""#, #""\u12""#, #""\u12g4""#, #""\u٠٠٠٠""#, #""\x""#,
        "\"\n\"", "\"\u{1}\"", "\"a", "\"\\\"", "01", "00", "-", "+1", "1.", ".1", "1e", "1e+", "0x1", "NaN",
        "Infinity", "nul", "True", "'a'", "", "1 2", "[1", "[1,]", "{\"b\":1", "{\"b\"}", "{,}", "]", "\u{FEFF}1",
    ])
    func `what is not JSON is refused`(value: String) {
        #expect(throws: IdentityError.self) { try read("{\"a\":\(value)}") }
    }

    @Test(arguments: [
        "", " ", "[]", "\"a\"", "1", "null", "{", "}", "{\"a\":1}}", "{\"a\":1},", "{\"a\":1} x", "{\"a\":1,}",
        "{a:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "\u{FEFF}{}", "{\"a\":1}\0", "// x\n{}",
    ])
    func `what is not one object is refused`(text: String) {
        #expect(throws: IdentityError.self) { try read(text) }
    }

    @Test(arguments: ["1.0", "1e3", "-1", "-0", "0.5", "true", "false", "[]", "{}", "18446744073709551616", "1E400"])
    func `values of other kinds are skipped but never taken for ours`(value: String) throws {
        let json = try read("{\"a\":\(value),\"b\":1}")
        #expect(json["a"] == .other)
        #expect(try json.integer("b") == 1)
        #expect(throws: IdentityError.self) { try json.integer("a") }
        #expect(throws: IdentityError.self) { try json.integerOrNull("a") }
        #expect(throws: IdentityError.self) { try json.string("a") }
    }

    @Test func `a number in quotes is no number and null is no string`() throws {
        let json = try read("{\"a\":\"1\",\"b\":null}")
        #expect(throws: IdentityError.self) { try json.integer("a") }
        #expect(throws: IdentityError.self) { try json.string("b") }
        #expect(throws: IdentityError.self) { try json.integer("b") }
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"x":{"a":1,"a":1}}"#, #"{"x":[[{"a":1,"b":2,"a":null}]]}"#,
    ])
    func `a field that is there twice is refused at any depth`(text: String) {
        #expect(throws: IdentityError.invalidText(of: "a text", reason: "its field \"a\" is there twice")) {
            try read(text)
        }
    }

    @Test func `names are compared byte by byte`() throws {
        // Two spellings of one accented letter, equal as Swift strings.
        let json = try read("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(try json.integer("\u{E9}") == 1)
        #expect(try json.integer("e\u{301}") == 2)
    }

    @Test func `unknown fields may be nested up to the bound`() throws {
        func nested(_ depth: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        #expect(throws: Never.self) { try read(nested(7)) }
        #expect(throws: IdentityError.self) { try read(nested(8)) }
        #expect(throws: IdentityError.self) { try read(nested(8_000)) }
        #expect(throws: IdentityError.self) { try read(String(repeating: "{\"a\":", count: 3_000)) }
    }

    @Test func `size and number of fields are bounded`() throws {
        func fields(_ count: Int) -> String {
            "{" + (0..<count).map { "\"f\($0)\":\($0)" }.joined(separator: ",") + "}"
        }
        #expect(throws: Never.self) { try read(fields(64)) }
        #expect(throws: IdentityError.self) { try read(fields(65)) }
        func elements(_ count: Int) -> String {
            "{\"a\":[" + Array(repeating: "1", count: count).joined(separator: ",") + "]}"
        }
        #expect(throws: Never.self) { try read(elements(64)) }
        #expect(throws: IdentityError.self) { try read(elements(65)) }
        let room = FlatJSON.maximumByteCount - 8
        #expect(throws: Never.self) { try read("{\"a\":\"" + String(repeating: "x", count: room) + "\"}") }
        #expect(throws: IdentityError.self) { try read("{\"a\":\"" + String(repeating: "x", count: room + 1) + "\"}") }
    }

    @Test func `what is written is read`() throws {
        var writer = FlatJSONWriter()
        let text = "quote \" backslash \\ control \u{1}\n\u{1F} é 👪 /"
        writer.add("text", text)
        writer.add("number", UInt64.max)
        writer.add("nothing", UInt64?.none)
        let json = try read(writer.object)
        #expect(try json.string("text") == text)
        #expect(try json.integer("number") == .max)
        #expect(json["nothing"] == .null)
        #expect(FlatJSONWriter().object == "{}")
    }

    @Test func `no text crashes the reader`() {
        let valid = [
            #"{"type":"token","n":[1,{"a":"\u00e9\ud83d\udc6a"}],"f":-1.5e+3,"expiration":null,"x":true}"#, "{}",
        ]
        neverCrash(onTexts: valid, rounds: 10_000) { text in _ = try read(text) }
    }
}
