internal import QRCode
internal import TestSupport

/// The tables and the worked example that the standard prints, as `Tests/Vectors/QRCode/standard.json` has them.
struct Standard: Decodable {
    struct Version: Decodable {
        let number: Int
        let codewords: Int
        let remainderBits: Int
        let alignment: [Int]
        let information: String?
    }

    struct Example: Decodable {
        let text: String
        let level: String
        let data: String
        let correction: String
    }

    let formats: [String: [String]]
    let versions: [Version]
    let byteCapacities: [String: [String: Int]]
    let numericCapacities: [String: [String: Int]]
    let alphanumericCapacities: [String: [String: Int]]
    let generatorExponents: [String: [Int]]
    let example: Example

    /// Reads the file.
    static func load() throws -> Standard { try vectors(named: "QRCode/standard.json") }

    /// The bytes of a text of hexadecimal digits.
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }
}
