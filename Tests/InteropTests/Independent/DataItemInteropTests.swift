internal import Bytes
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// cbor2 and this code read each other's output.
@Suite("Independent CBOR", .timeLimit(.minutes(15))) struct DataItemInteropTests {
    /// Something of every kind, as deep as chance will have it.
    private struct Value: Codable, Equatable {
        var integers: [Int64]
        var unsigned: UInt64
        var ratio: Double
        var text: String
        var bytes: Data
        var flags: [Bool?]
        var scores: [String: Int]
        var missing: String?
        var inner: [Value]

        init(depth: Int, using random: inout SplitMix64) {
            integers = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random)
            }
            unsigned = random.next() >> UInt64.random(in: 0..<64, using: &random)
            ratio = Double(Int32.random(in: .min ... .max, using: &random)) / 64
            text = String(repeating: "aé水𐅑", count: .random(in: 0...80, using: &random))
            bytes = Data(random.bytes(count: .random(in: 0...300, using: &random)))
            flags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                [true, false, nil][Int.random(in: 0..<3, using: &random)]
            }
            scores = Dictionary(
                (0..<Int.random(in: 0...40, using: &random)).map { ("key \($0 * $0)", -$0) },
                uniquingKeysWith: { $1 }
            )
            missing = Bool.random(using: &random) ? "not missing" : nil
            inner = []
            guard depth > 0 else { return }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                inner.append(Value(depth: depth - 1, using: &random))
            }
        }
    }

    @Test func `random values pass through cbor2 unchanged`() async throws {
        var random = SplitMix64(seed: 21)
        let values = (0..<100).map { _ in Value(depth: 3, using: &random) }
        let lines = try values.map { Hex.encode(try CBOR.serialize($0)) }
        let answers = try await aside { try PythonScripts.lines(of: "data_items.py", for: lines) }
        for (value, answer) in zip(values, answers) {
            #expect(answer == Hex.encode(try CBOR.serialize(value)))
            #expect(try CBOR.deserialize(Value.self, from: Hex.decode(answer)) == value)
        }
    }
}
