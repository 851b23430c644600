internal import Foundation
internal import Identity

/// JSON as this command writes it: one line, keys in order, slashes as they are.
package enum JSONText {
    package static func encode(_ value: some Encodable) -> String { String(decoding: bytes(value), as: UTF8.self) }

    package static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Other devices may send any number, and JSON has only finite ones.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity",
            negativeInfinity: "-Infinity",
            nan: "NaN"
        )
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("a report of ours cannot be written: \(error)")
        }
    }

    /// Escapes the characters of a JSON text that are not visible.
    ///
    /// JSON written by this program has none of them outside of strings, and the standard demands escapes only below U+0020.
    package static func shown(_ json: String) -> String {
        guard !json.unicodeScalars.allSatisfy(PlainText.isPlain) else { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            if PlainText.isPlain(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
