internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Bincode") struct BincodeTests {
    typealias Types = BincodeTypes

    @Test func `optionals in optionals and collections keep their levels`() throws {
        try expectRoundTrip(UInt8??.none, "00")
        try expectRoundTrip(UInt8??(.none), "0100")
        try expectRoundTrip(UInt8???(.some(.none)), "010100")
        try expectRoundTrip([nil, UInt8??(.none), 5] as [UInt8??], "0300000000000000" + "00" + "0100" + "010105")
        try expectRoundTrip(["k": nil] as [String: Bool?], "0100000000000000" + "01000000000000006b" + "00")
    }

    @Test func `dictionaries and sets of any insertion order have the same bytes`() throws {
        var random = SplitMix64(seed: 5)
        let pairs = (0..<100).map { ("key \($0)", UInt16($0)) }
        let first = try Bincode.serialize(Dictionary(uniqueKeysWithValues: pairs))
        let second = try Bincode.serialize(Dictionary(uniqueKeysWithValues: pairs.shuffled(using: &random)))
        #expect(first == second)
        let numbers = (0..<100).map { UInt16($0) }
        #expect(try Bincode.serialize(Set(numbers)) == Bincode.serialize(Set(numbers.shuffled(using: &random))))
    }

    @Test func `entries are read in any order`() throws {
        let bytes = try Hex.decode("0200000000000000" + "0207" + "0108")
        #expect(try Bincode.deserialize([UInt8: UInt8].self, from: bytes) == [2: 7, 1: 8])
    }

    @Test func `data has the encoding of an array of bytes`() throws {
        let bytes = [UInt8](0...255)
        #expect(try Bincode.serialize(Data(bytes)) == Bincode.serialize(bytes))
        #expect(try Bincode.deserialize(Data.self, from: Bincode.serialize(bytes)) == Data(bytes))
        #expect(try Bincode.deserialize([UInt8].self, from: Data(Bincode.serialize(bytes))) == bytes)
        #expect(throws: BytesError.truncated(needed: 1 << 40, available: 0)) {
            try Bincode.deserialize(Data.self, from: Hex.decode("0000000000010000"))
        }
    }

    @Test func `every float comes back bit by bit`() throws {
        for value in [0, -0.0, .infinity, .nan, .leastNonzeroMagnitude, -.greatestFiniteMagnitude] as [Double] {
            let bytes = try Bincode.serialize(value)
            #expect(try Bincode.deserialize(Double.self, from: bytes).bitPattern == value.bitPattern)
        }
    }

    @Test func `input beyond the limit is refused unread`() {
        let bytes = [UInt8](repeating: 0, count: 100)
        #expect(throws: BytesError.tooLong(limit: 99, found: 100)) {
            try Bincode.deserialize([UInt8].self, from: bytes, limit: 99)
        }
    }

    @Test func `values nest as deep as allowed and no deeper`() throws {
        // A link is a struct, an optional and an array: three levels, and one for the last struct.
        var link = Types.Link()
        for _ in 0..<20 {
            link = Types.Link(next: [link])
        }
        let bytes = try Bincode.serialize(link)
        #expect(try Bincode.deserialize(Types.Link.self, from: bytes) == link)
        for _ in 0..<2 {
            link = Types.Link(next: [link])
        }
        #expect(throws: BytesError.tooDeep(limit: 64)) { try Bincode.serialize(link) }
    }

    @Test func `empty elements are refused on both sides`() throws {
        #expect(throws: EncodingError.self) { try Bincode.serialize([Types.Nothing()]) }
        #expect(throws: EncodingError.self) { try Bincode.serialize([Types.Nothing?.none, .init()].compactMap { $0 }) }
        try expectRoundTrip(Types.Nothing(), "")
        try expectRoundTrip([Types.Nothing?.none, .init()], "0200000000000000" + "00" + "01")
    }

    @Test func `classes encode their parent's fields first`() throws {
        let value = Derived()
        value.first = 7
        #expect(try Bincode.serialize(value) == [7, 2])
        let decoded = try Bincode.deserialize(Derived.self, from: [9, 8] as [UInt8])
        #expect(decoded.first == 9 && decoded.second == 8)
    }

    @Test func `a hand-written sequence has a count`() throws {
        struct Pair: Codable, Equatable {
            var left: UInt16
            var right: UInt16

            init(left: UInt16, right: UInt16) {
                self.left = left
                self.right = right
            }

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                left = try container.decode(UInt16.self)
                right = try container.decode(UInt16.self)
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(left)
                try container.encode(right)
            }
        }
        try expectRoundTrip(Pair(left: 1, right: 2), "0200000000000000" + "0100" + "0200")
        #expect(throws: DecodingError.self) {
            try Bincode.deserialize(Pair.self, from: Hex.decode("0100000000000000" + "0100"))
        }
    }

    @Test func `random values round trip`() throws {
        var random = SplitMix64(seed: 11)
        for _ in 0..<500 {
            let message = randomMessage(depth: 4, using: &random)
            let bytes = try Bincode.serialize(message)
            #expect(try Bincode.deserialize(Types.Message.self, from: bytes) == message)
        }
    }

    private func randomMessage(depth: Int, using random: inout SplitMix64) -> Types.Message {
        switch Int.random(in: 0..<(depth > 0 ? 4 : 3), using: &random) {
        case 0: .ping
        case 1: .pong(random.next())
        case 2:
            .publish(
                topic: String(repeating: "é", count: .random(in: 0...9, using: &random)),
                priority: Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : nil,
                body: random.bytes(count: .random(in: 0...40, using: &random))
            )
        default:
            .batch(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    randomMessage(depth: depth - 1, using: &random)
                }
            )
        }
    }

    private func expectRoundTrip<Value: Codable & Equatable>(_ value: Value, _ hex: String) throws {
        let bytes = try Bincode.serialize(value)
        #expect(Hex.encode(bytes) == hex)
        #expect(try Bincode.deserialize(Value.self, from: bytes) == value)
    }
}

@Suite("Bincode and enums") struct BincodeEnumTests {
    private enum Untold: Codable {
        case some(UInt8)
        case other
    }

    private enum Incomplete: Codable, BincodeEnum {
        case listed
        case forgotten

        static let bincodeCases = ["listed"]
    }

    private enum Raw: UInt16, Codable, BincodeEnum {
        case one

        static let bincodeCases = ["one"]
    }

    private struct Outer: Codable {
        var before: UInt8
        var inner: Untold
    }

    @Test func `an enum without the order of its cases is refused`() {
        #expect(throws: EncodingError.self) { try Bincode.serialize(Untold.some(1)) }
        #expect(throws: EncodingError.self) { try Bincode.serialize(Outer(before: 1, inner: .other)) }
        #expect(throws: (any Error).self) { try Bincode.deserialize(Untold.self, from: [0, 0, 0, 0, 1] as [UInt8]) }
    }

    @Test func `a case that is not listed is refused`() throws {
        #expect(try Bincode.serialize(Incomplete.listed) == [0, 0, 0, 0])
        #expect(throws: EncodingError.self) { try Bincode.serialize(Incomplete.forgotten) }
        #expect(throws: BytesError.invalidValue("the tag 1 of an enum with 1 cases")) {
            try Bincode.deserialize(Incomplete.self, from: [1, 0, 0, 0] as [UInt8])
        }
    }

    @Test func `an enum with raw values takes no table`() {
        #expect(throws: EncodingError.self) { try Bincode.serialize(Raw.one) }
        #expect(throws: DecodingError.self) { try Bincode.deserialize(Raw.self, from: [0, 0] as [UInt8]) }
    }

    @Test func `an unknown raw value is refused`() {
        #expect(throws: DecodingError.self) {
            try Bincode.deserialize(BincodeTypes.Colour.self, from: [3, 0, 0, 0] as [UInt8])
        }
    }

    @Test func `a hand-written nil is refused`() {
        struct Loose: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            }
        }
        #expect(throws: EncodingError.self) { try Bincode.serialize(Loose()) }
    }
}
