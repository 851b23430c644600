internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Errors") struct ErrorTests {
    private struct Odd: Error {}

    @Test func `the document's cases have the document's texts`() {
        #expect(
            RunarError.encodingError(CocoaError(.fileNoSuchFile)).errorDescription?.hasPrefix("Encoding error: ")
                == true
        )
        #expect(RunarError.decodingError(Odd()).errorDescription == "Decoding error: Odd()")
        #expect(RunarError.nativeError("no").errorDescription == "Native error: no")
        #expect(RunarError.invalidParameters.errorDescription == "Invalid parameters")
        #expect(RunarError.unknownError.errorDescription == "Unknown error occurred")
    }

    @Test func `codes are unique, ascending and in their areas`() {
        let numbers = RunarErrorCode.all.map(\.code.rawValue)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(Set(RunarErrorCode.all.map(\.name)).count == numbers.count)
        #expect([RunarErrorCode.io, .keychain, .network, .unknown].map(\.rawValue) == [1000, 2000, 3000, 9999])
    }

    @Test(arguments: [
        (NodeError.notRunning as any Error, 3007), (KeychainError.denied, 2001), (KeychainError.unsupported("x"), 2003),
        (TopicPathError.malformed("a", reason: "b"), 5006), (CancellationError(), 4005), (Odd(), 9999),
        (EventTooLarge(limit: 1, found: 2), 4008), (RunarError.invalidParameters, 5003),
        (NetworkError.invalidSignature, 5003), (NetworkError.invalidToken, 3008), (ConnectionError.invalidData, 5003),
    ])
    func `any error of the library has a code and a message`(error: any Error, code: Int) {
        let found = RunarError(error)
        #expect(Int(found.code) == code && !found.message.isEmpty)
    }

    @Test func `what cannot be decoded is named by its place`() throws {
        struct Point: Codable { var x: Int }
        let error = #expect(throws: RunarError.self) {
            try PayloadEncoding.json.decode([Point].self, from: Data(#"[{"x":1},{"y":2}]"#.utf8))
        }
        #expect(error?.code == 5002)
        #expect(error?.message.contains("\"x\" is missing") == true, "\(String(describing: error))")
    }

    @Test func `a value of any shape comes through JSON as it was`() throws {
        let value: RunarValue = [
            "null": nil, "yes": true, "whole": 9_007_199_254_740_993, "half": 0.5, "text": "ü",
            "list": [1, "two", [3]], "empty": [:],
        ]
        let bytes = try PayloadEncoding.json.encode(value)
        #expect(try PayloadEncoding.json.decode(RunarValue.self, from: bytes) == value)
        #expect(value["list"]?[1]?.stringValue == "two" && value["whole"]?.intValue == 9_007_199_254_740_993)
        #expect(try PayloadEncoding.json.decode(Int?.self, from: Data()) == nil)
        #expect(throws: RunarError.self) { try PayloadEncoding.json.decode(Int.self, from: Data()) }
    }
}
