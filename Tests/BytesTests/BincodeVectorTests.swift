internal import Bytes
internal import TestSupport
internal import Testing

@Suite("Bincode vectors") struct BincodeVectorTests {
    typealias Types = BincodeTypes

    let vectors: BincodeVectors

    init() throws {
        vectors = try TestSupport.vectors(named: "Bytes/bincode.json")
    }

    /// The values of the file in Swift.
    let values: [String: any (Codable & Equatable)] = [
        "string Hello": "Hello",
        "some u32 123": UInt32?(123),
        "announce": Types.Wire.announce(publicKey: "abc", addresses: ["1.2.3.4:50000"]),
        "bool true": true,
        "bool false": false,
        "u8 255": UInt8(255),
        "u16 0x0102": UInt16(0x0102),
        "u32 0x01020304": UInt32(0x0102_0304),
        "u64 0x0102030405060708": UInt64(0x0102_0304_0506_0708),
        "i8 -1": Int8(-1),
        "i16 -2": Int16(-2),
        "i32 -3": Int32(-3),
        "i64 minimum": Int64.min,
        "usize 7": UInt(7),
        "isize -7": -7,
        "f32 1.5": Float(1.5),
        "f64 -2.25": -2.25,
        "string empty": "",
        "string é𝄞": "é𝄞",
        "none u32": UInt32?.none,
        "some none u32": UInt32??(.none),
        "some some u32 1": UInt32??(1),
        "bytes deadbeef": [0xDE, 0xAD, 0xBE, 0xEF] as [UInt8],
        "vec u16": [1, 2, 3] as [UInt16],
        "vec empty": [] as [UInt16],
        "vec vec u8": [[1], []] as [[UInt8]],
        "vec option u8": [1, nil] as [UInt8?],
        "map string u32": ["aa": 1, "b": 2] as [String: UInt32],
        "map u8 string": [1: "x", 2: "y"] as [UInt8: String],
        "set u16": [2, 257] as Set<UInt16>,
        "enum unit": Types.Message.ping,
        "enum tuple": Types.Message.pong(9),
        "enum struct": Types.Message.publish(topic: "a/b", priority: 7, body: [1, 2]),
        "enum struct none": Types.Message.publish(topic: "", priority: nil, body: []),
        "enum nested": Types.Message.batch([.ping, .pong(1)]),
        "raw u32 enum": Types.Colour.blue,
        "raw string enum": Types.Name.red,
        "all optionals absent": Types.Optionals(),
        "all optionals present": Types.Optionals.present,
        "person": Types.Person(
            name: "Ada",
            age: 36,
            tags: ["x", "yz"],
            scores: ["k": -1],
            nickname: "n",
            place: .init(first: 1, second: 2)
        ),
    ]

    @Test func `valid vectors serialize and deserialize`() throws {
        #expect(Set(vectors.valid.map(\.name)) == Set(values.keys))
        for vector in vectors.valid {
            if let value = values[vector.name] {
                try expect(value, vector)
            }
        }
    }

    private func expect<Value: Codable & Equatable>(_ value: Value, _ vector: BincodeVectors.Valid) throws {
        let bytes = try Bincode.serialize(value)
        #expect(Hex.encode(bytes) == vector.bytes, "\(vector.name)")
        #expect(try Bincode.deserialize(Value.self, from: Hex.decode(vector.bytes)) == value, "\(vector.name)")
    }

    /// The types of the refused vectors.
    let types: [String: any Decodable.Type] = [
        "bool": Bool.self,
        "option": UInt32?.self,
        "u32": UInt32.self,
        "string": String.self,
        "bytes": [UInt8].self,
        "vec u16": [UInt16].self,
        "map": [String: UInt32].self,
        "set": Set<UInt16>.self,
        "enum": Types.Message.self,
        "nothings": [Types.Nothing].self,
        "links": Types.Link.self,
    ]

    @Test func `invalid vectors are refused for the stated reason`() throws {
        #expect(Set(vectors.invalid.map(\.type)) == Set(types.keys))
        for vector in vectors.invalid {
            let type = try #require(types[vector.type])
            let bytes = try Hex.decode(vector.bytes)
            let error = #expect(throws: BytesError.self, "\(vector)") { try decode(type, from: bytes) }
            #expect(error?.name == vector.error, "\(vector)")
        }
    }

    @Test func `damaged bytes never crash any type`() throws {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let valid = try vectors.valid.filter { $0.name == name }.map { try Hex.decode($0.bytes) }
            neverCrash(on: valid, rounds: 500) { bytes in try decode(type(of: value), from: bytes) }
        }
        let links = try Bincode.serialize(Types.Link(next: [.init(), .init(next: [.init()])]))
        neverCrash(on: [links]) { bytes in try decode(Types.Link.self, from: bytes) }
    }

    private func decode(_ type: any Decodable.Type, from bytes: [UInt8]) throws {
        _ = try Bincode.deserialize(type, from: bytes)
    }
}
