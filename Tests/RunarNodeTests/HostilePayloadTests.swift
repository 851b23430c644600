internal import Foundation
internal import RunarNode
internal import TestSupport
internal import Testing

/// Hostile payloads of requests and events, for programs that read values of any shape.
@Suite("Hostile payloads") struct HostilePayloadTests {
    @Test(arguments: [64, 500, 512, 513, 5_000, 250_000], ["[", #"{"a":"#])
    func `values nest as deep as their encoding allows and crash no reader`(depth: Int, opening: String) async {
        let closing = opening == "[" ? "]" : "}"
        let text = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
        // On a thread of the pool, which has another stack than the main thread.
        let isRead = await Task {
            (try? PayloadEncoding.json.decode(RunarValue.self, from: Data(text.utf8))) != nil  // only a crash counts
        }.value
        #expect(isRead == (depth <= 64))
    }

    @Test(arguments: PayloadEncoding.allCases)
    func `damaged values never crash`(encoding: PayloadEncoding) throws {
        let values: [RunarValue] = [
            ["a": [1, 2.5, nil, true, "text"], "b": ["c": [[:]]]], [nil, -1, "\u{1B}\u{202E}"], 9_007_199_254_740_993,
        ]
        neverCrash(on: try values.map { Array(try encoding.encode($0)) }) { bytes in
            _ = try encoding.decode(RunarValue.self, from: Data(bytes))
        }
    }
}
