internal import CommandModel
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import APIDescription

@Suite("JSON documents") struct JSONDocumentTests {
    private let text = #"{"a":[1,-2,true,null,"x/y ä"],"b":{"c":1.5},"d":18446744073709551615,"e":"\n"}"#

    @Test func `a document that is read and written again is the same`() throws {
        let document = try JSONDocument(Array(text.utf8))
        #expect(document["a"]?.elements == [1, -2, true, .null, "x/y ä"])
        #expect(document["b"] == ["c": .number(1.5)])
        #expect(document["d"] == .number(18_446_744_073_709_551_616))
        #expect(document["e"]?.text == "\n")
        #expect(document["a"]?["b"] == nil && document["x"] == nil)
        #expect(try JSONDocument(JSONText.bytes(document)) == document)
    }

    @Test(arguments: ["[1]", "1", "", "{", #"{"a":1,"a":2}"#, #"{"a":01}"#])
    func `a text that is no object, or has one name twice, is refused`(_ text: String) {
        #expect(throws: JSONProblem.self) { try JSONDocument(Array(text.utf8)) }
    }

    @Test func `damaged texts are refused without a crash`() {
        let deep = String(repeating: #"{"a":"#, count: 100) + "1" + String(repeating: "}", count: 100)
        neverCrash(on: [Array(text.utf8), Array(deep.utf8)]) { bytes in
            _ = JSONText.bytes(try JSONDocument(bytes))
        }
    }
}
