internal import Bytes
internal import TestSupport
internal import Testing

/// The file of vectors.
private struct DataItemVectors: Decodable {
    struct Valid: Decodable {
        let name: String
        let bytes: String
    }

    struct Read: Decodable {
        let name: String
        let bytes: String
        let why: String
    }

    struct Invalid: Decodable {
        let type: String
        let bytes: String
        let error: String
        let why: String
    }

    let valid: [Valid]
    let read: [Read]
    let invalid: [Invalid]
}

@Suite("CBOR vectors") struct DataItemVectorTests {
    private let vectors: DataItemVectors

    init() throws {
        vectors = try TestSupport.vectors(named: "Bytes/data-items.json")
    }

    /// The values of the file in Swift, apart from numbers, which are named by themselves.
    private let values: [String: any (Codable & Equatable)] = [
        "null": Bool?.none,
        "false": false,
        "true": true,
        "infinity": Double.infinity,
        "-infinity": -Double.infinity,
        "2^-24 * 1.5": 0x1.8p-24,
        "2^-25": 0x1p-25,
        "text empty": "",
        "text a": "a",
        "text IETF": "IETF",
        "text quotes": "\"\\",
        "text ü": "\u{fc}",
        "text 水": "\u{6c34}",
        "text 𐅑": "\u{10151}",
        "text 31": String(repeating: "x", count: 31),
        "text 32": String(repeating: "x", count: 32),
        "text 300": String(repeating: "x", count: 300),
        "bytes empty": [] as [UInt8],
        "bytes 01020304": [1, 2, 3, 4] as [UInt8],
        "bytes 300": [UInt8](repeating: 0, count: 300),
        "array empty": [] as [Int],
        "array 123": [1, 2, 3],
        "array nested": [[1], [2, 3], []],
        "array 25": [Int](1...25),
        "array optional": [1, nil] as [Int?],
        "map empty": [:] as [String: Int],
        "map b a": ["a": 1, "b": 2],
        "map aa b": ["aa": 1, "b": 2],
        "map 20": Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", $0) }),
        "integer keys": [1: "one", -2: "two"],
        "struct": DataItemTypes.Person.ada,
        "case with values": DataItemTypes.Message.publish(topic: "a/b", body: [7]),
        "case without values": DataItemTypes.Message.ping,
        "raw value": DataItemTypes.Colour.green,
    ]

    private func value(named name: String) throws -> any (Codable & Equatable) {
        if let value = values[name] { return value }
        if let value = Int64(name) { return value }
        if let value = UInt64(name) { return value }
        return try #require(Double(name), "\(name)")
    }

    @Test func `values have the bytes of independent implementations`() throws {
        #expect(vectors.valid.count > 80)
        for vector in vectors.valid where vector.name != "nan" {
            try expect(try value(named: vector.name), try Hex.decode(vector.bytes), vector.name)
        }
    }

    private func expect<Value: Codable & Equatable>(_ value: Value, _ bytes: [UInt8], _ name: String) throws {
        #expect(try Hex.encode(CBOR.serialize(value)) == Hex.encode(bytes), "\(name)")
        #expect(try CBOR.deserialize(Value.self, from: bytes) == value, "\(name)")
    }

    @Test func `what is no number has one form`() throws {
        let vector = try #require(vectors.valid.first { $0.name == "nan" })
        let bytes = try Hex.decode(vector.bytes)
        #expect(try CBOR.serialize(Double.nan) == bytes)
        #expect(try CBOR.deserialize(Double.self, from: bytes).isNaN)
        #expect(try CBOR.deserialize(Float.self, from: bytes).isNaN)
    }

    @Test func `other forms of other implementations are read`() throws {
        for vector in vectors.read {
            try expectRead(try value(named: vector.name), vector)
        }
    }

    private func expectRead<Value: Codable & Equatable>(_ value: Value, _ vector: DataItemVectors.Read) throws {
        let found = try CBOR.deserialize(Value.self, from: Hex.decode(vector.bytes))
        #expect(found == value, "\(vector)")
    }

    /// The types of the refused vectors.
    private let types: [String: any Decodable.Type] = [
        "integer": Int.self,
        "text": String.self,
        "array": [Int].self,
        "map": [String: Int].self,
        "nested": DataItemTypes.Nested.self,
    ]

    @Test func `invalid vectors are refused for the stated reason`() throws {
        for vector in vectors.invalid {
            let type = try #require(types[vector.type])
            let bytes = try Hex.decode(vector.bytes)
            let error = #expect(throws: BytesError.self, "\(vector)") {
                try decode(type, from: bytes)
            }
            #expect(error?.name == vector.error, "\(vector)")
        }
    }

    @Test func `damaged bytes never crash any type`() throws {
        let valid = try vectors.valid.map { try Hex.decode($0.bytes) }
        let read = try vectors.read.map { try Hex.decode($0.bytes) }
        let invalid = try vectors.invalid.map { try Hex.decode($0.bytes) }
        for name in values.keys.sorted() {
            let type = type(of: try value(named: name)) as any Decodable.Type
            neverCrash(on: valid + read + invalid, rounds: 300) { bytes in try decode(type, from: bytes) }
        }
        neverCrash(on: invalid) { bytes in try decode(DataItemTypes.Nested.self, from: bytes) }
    }

    private func decode(_ type: any Decodable.Type, from bytes: [UInt8]) throws {
        _ = try CBOR.deserialize(type, from: bytes)
    }
}
