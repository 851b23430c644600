internal import Bytes
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// The types of the vectors of CBOR.
enum DataItemTypes {
    struct Person: Codable, Equatable {
        struct Point: Codable, Equatable {
            var first: UInt16
            var second: UInt16
        }

        var name: String
        var born: Int
        var tags: [String]
        var picture: [UInt8]
        var place: Point
        var died: Int?

        static let ada = Person(
            name: "Ada",
            born: 1815,
            tags: ["x", "yz"],
            picture: [1, 2],
            place: Point(first: 1, second: 2)
        )
    }

    enum Message: Codable, Equatable {
        case ping
        case publish(topic: String, body: [UInt8])
        indirect case batch([Message])
    }

    enum Colour: String, Codable {
        case green
    }

    /// Arrays in arrays.
    struct Nested: Codable, Equatable {
        var inner: [Nested] = []

        init(_ inner: [Nested] = []) {
            self.inner = inner
        }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { inner.append(try container.decode(Nested.self)) }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for nested in inner { try container.encode(nested) }
        }
    }
}

@Suite("CBOR") struct DataItemTests {
    typealias Types = DataItemTypes

    @Test func `data is a byte string`() throws {
        for bytes in [[], [1], [UInt8](0...255)] {
            #expect(try CBOR.serialize(Data(bytes)) == CBOR.serialize(bytes))
            #expect(try CBOR.deserialize(Data.self, from: CBOR.serialize(bytes)) == Data(bytes))
            #expect(try CBOR.deserialize([UInt8].self, from: CBOR.serialize(bytes)) == bytes)
            #expect(try CBOR.deserialize(Data.self, from: CBOR.serialize(bytes.map(Int.init))) == Data(bytes))
            let numbered: [Int8: [UInt8]] = [7: bytes]
            #expect(try CBOR.deserialize([Int8: Data].self, from: CBOR.serialize(numbered)) == [7: Data(bytes)])
        }
    }

    @Test func `equal values have equal bytes whatever the order of their hashes`() throws {
        var random = SplitMix64(seed: 5)
        let numbers = (0..<100).map { $0 }
        let shuffled = numbers.shuffled(using: &random)
        #expect(try CBOR.serialize(Set(numbers)) == CBOR.serialize(Set(shuffled)))
        let texts = Dictionary(uniqueKeysWithValues: numbers.map { ("\($0)", $0) })
        #expect(
            try CBOR.serialize(texts)
                == CBOR.serialize(Dictionary(uniqueKeysWithValues: shuffled.map { ("\($0)", $0) }))
        )
        let pairs = Dictionary(uniqueKeysWithValues: numbers.map { ([$0], $0) })
        #expect(
            try CBOR.serialize(pairs) == CBOR.serialize(Dictionary(uniqueKeysWithValues: shuffled.map { ([$0], $0) }))
        )
        #expect(try CBOR.deserialize(Set<Int>.self, from: CBOR.serialize(Set(numbers))) == Set(numbers))
        #expect(try CBOR.deserialize([String: Int].self, from: CBOR.serialize(texts)) == texts)
        #expect(try CBOR.deserialize([[Int]: Int].self, from: CBOR.serialize(pairs)) == pairs)
    }

    @Test func `every float comes back bit by bit`() throws {
        var random = SplitMix64(seed: 9)
        let special: [Float] = [0, -0.0, .infinity, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 65_504, 65_505]
        let halves = (0..<UInt16.max).map { Float(Float32(bitPattern: UInt32($0) << 13)) }
        for value in special + halves
            + (0..<2_000).map({ _ in Float(bitPattern: UInt32.random(in: 0...(.max), using: &random)) })
        where !value.isNaN {
            #expect(try CBOR.deserialize(Float.self, from: CBOR.serialize(value)).bitPattern == value.bitPattern)
            #expect(try CBOR.deserialize(Double.self, from: CBOR.serialize(Double(value))) == Double(value))
        }
    }

    @Test func `numbers of sixteen bits are written for all that they can express`() throws {
        for bits in UInt16.min...UInt16.max where bits & 0x7C00 != 0x7C00 || bits & 0x3FF == 0 {
            let bytes = [0xF9, UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)]
            #expect(try CBOR.serialize(CBOR.deserialize(Double.self, from: bytes)) == bytes)
        }
    }

    @Test func `what does not fit is refused and says where`() throws {
        struct Row: Codable {
            var cells: [UInt8?]
        }
        struct Wide: Codable {
            var cells: [Int?]
        }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(UInt8.self, from: CBOR.serialize(256)) }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(UInt.self, from: CBOR.serialize(-1)) }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(Int.self, from: CBOR.serialize(UInt.max)) }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(Int.self, from: CBOR.serialize(1.5)) }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(Double.self, from: CBOR.serialize(Int.max)) }
        #expect(throws: DecodingError.self) { try CBOR.deserialize(String.self, from: CBOR.serialize(1)) }
        #expect(throws: DecodingError.self) {
            try CBOR.deserialize(Types.Person.self, from: CBOR.serialize(["a": 1]))
        }
        let error = #expect(throws: DecodingError.self) {
            try CBOR.deserialize([String: Row].self, from: CBOR.serialize(["row": Wide(cells: [1, nil, 300])]))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("another error was thrown")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["row", "cells", "Index 2"])
    }

    @Test func `values nest as deep as allowed and no deeper`() throws {
        var value = Types.Nested()
        for _ in 1..<64 { value = Types.Nested([value]) }
        let bytes = try CBOR.serialize(value)
        #expect(try CBOR.deserialize(Types.Nested.self, from: bytes) == value)
        let deeper = Types.Nested([value])
        #expect(throws: BytesError.tooDeep(limit: 64)) { try CBOR.serialize(deeper) }
        let deeperBytes: [UInt8] = [0x81] + bytes
        #expect(throws: BytesError.tooDeep(limit: 64)) {
            try CBOR.deserialize(Types.Nested.self, from: deeperBytes)
        }
        for _ in 0..<1_000 { value = Types.Nested([value]) }
        let deepest = value
        #expect(throws: BytesError.tooDeep(limit: 64)) { try CBOR.serialize(deepest) }
    }

    @Test func `input beyond the limit is refused unread`() {
        #expect(throws: BytesError.tooLong(limit: 99, found: 100)) {
            try CBOR.deserialize([UInt8].self, from: [UInt8](repeating: 0, count: 100), limit: 99)
        }
    }

    @Test func `classes have their parent's fields under super`() throws {
        let value = Derived()
        value.first = 7
        let bytes = try CBOR.serialize(value)
        let fields = ["super": AnyFields(fields: ["first": 7]), "second": AnyFields(number: 2)]
        #expect(try bytes == CBOR.serialize(fields))
        let decoded = try CBOR.deserialize(Derived.self, from: bytes)
        #expect(decoded.first == 7 && decoded.second == 2)
    }

    /// A number or a map.
    private struct AnyFields: Encodable {
        var fields: [String: Int]?
        var number: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let fields { try container.encode(fields) } else { try container.encode(number) }
        }
    }

    @Test func `random values round trip and have the shape of their JSON`() throws {
        var random = SplitMix64(seed: 11)
        for _ in 0..<300 {
            let message = randomMessage(depth: 4, using: &random)
            #expect(try CBOR.deserialize(Types.Message.self, from: CBOR.serialize(message)) == message)
            let date = Date(timeIntervalSinceReferenceDate: Double.random(in: 0...1e9, using: &random))
            let value = [UUID(): [date: message]]
            #expect(try CBOR.deserialize([UUID: [Date: Types.Message]].self, from: CBOR.serialize(value)) == value)
        }
        let ada = try CBOR.deserialize(Types.Person.self, from: CBOR.serialize(Types.Person.ada))
        #expect(try JSONDecoder().decode(Types.Person.self, from: JSONEncoder().encode(ada)) == Types.Person.ada)
    }

    private func randomMessage(depth: Int, using random: inout SplitMix64) -> Types.Message {
        switch Int.random(in: 0..<(depth > 0 ? 3 : 2), using: &random) {
        case 0: .ping
        case 1:
            .publish(
                topic: String(repeating: "é", count: .random(in: 0...40, using: &random)),
                body: random.bytes(count: .random(in: 0...300, using: &random))
            )
        default:
            .batch(
                (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    randomMessage(depth: depth - 1, using: &random)
                }
            )
        }
    }
}
