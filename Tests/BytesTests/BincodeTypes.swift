internal import Bytes
internal import Testing

/// The types of the Bincode vectors; each has a counterpart in Rust with the same fields.
enum BincodeTypes {
    enum Wire: Codable, Equatable, BincodeEnum {
        case announce(publicKey: String, addresses: [String])

        static let bincodeCases = ["announce"]
    }

    enum Message: Codable, Equatable, BincodeEnum {
        case ping
        case pong(UInt64)
        case publish(topic: String, priority: UInt8?, body: [UInt8])
        indirect case batch([Message])

        static let bincodeCases = ["ping", "pong", "publish", "batch"]
    }

    enum Colour: UInt32, Codable {
        case red
        case green
        case blue
    }

    enum Name: String, Codable {
        case red
    }

    struct Optionals: Codable, Equatable {
        var bool: Bool?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var int: Int?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
        var uint: UInt?
        var float: Float?
        var double: Double?
        var string: String?
        var bytes: [UInt8]?

        static let present = Optionals(
            bool: true,
            int8: -1,
            int16: -2,
            int32: -3,
            int64: -4,
            int: -5,
            uint8: 1,
            uint16: 2,
            uint32: 3,
            uint64: 4,
            uint: 5,
            float: 0.5,
            double: 0.25,
            string: "t",
            bytes: [9]
        )
    }

    struct Person: Codable, Equatable {
        struct Point: Codable, Equatable {
            var first: UInt16
            var second: UInt16
        }

        var name: String
        var age: UInt8
        var tags: [String]
        var scores: [String: Int64]
        var nickname: String?
        var place: Point
    }

    struct Nothing: Codable, Equatable {}

    /// A list as deep as it is long: each link is an optional and an enum or struct.
    struct Link: Codable, Equatable {
        var next: [Link]?
    }
}

/// The file of vectors.
struct BincodeVectors: Decodable {
    struct Valid: Decodable {
        let name: String
        let bytes: String
    }

    struct Invalid: Decodable {
        let type: String
        let bytes: String
        let error: String
        let why: String
    }

    let valid: [Valid]
    let invalid: [Invalid]
}
