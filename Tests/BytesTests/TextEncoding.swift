internal import Bytes
internal import TestSupport

/// The text encodings under test, by the names that the vectors use.
enum TextEncoding: String, Decodable, CaseIterable {
    case hex
    case base64
    case base64url
    case base32
    case base58
    case checkedBase32

    func encode(_ bytes: [UInt8]) -> String {
        switch self {
        case .hex: Hex.encode(bytes)
        case .base64: Base64.encode(bytes)
        case .base64url: Base64URL.encode(bytes)
        case .base32: Base32.encode(bytes)
        case .base58: Base58.encode(bytes)
        case .checkedBase32: CheckedBase32.encode(bytes)
        }
    }

    func decode(_ text: String) throws(BytesError) -> [UInt8] {
        switch self {
        case .hex: try Hex.decode(text)
        case .base64: try Base64.decode(text)
        case .base64url: try Base64URL.decode(text)
        case .base32: try Base32.decode(text)
        case .base58: try Base58.decode(text)
        case .checkedBase32: try CheckedBase32.decode(text)
        }
    }

    /// Whether there is exactly one text for each value.
    var isInjective: Bool { self != .hex && self != .checkedBase32 }
}

/// The file of vectors.
struct TextVectors: Decodable {
    struct Valid: Decodable {
        let encoding: TextEncoding
        let bytes: String
        let text: String
    }

    struct Invalid: Decodable {
        let encoding: TextEncoding
        let text: String
        let error: String
        let why: String
    }

    let valid: [Valid]
    let tolerated: [Valid]
    let invalid: [Invalid]

    static func load() throws -> TextVectors {
        try vectors(named: "Bytes/text-encodings.json")
    }
}

extension BytesError {
    /// The name of the case in vectors.
    var name: String {
        switch self {
        case .truncated: "truncated"
        case .tooLong: "tooLong"
        case .trailingBytes: "trailingBytes"
        case .nonCanonical: "nonCanonical"
        case .invalidCharacter: "invalidCharacter"
        case .invalidLength: "invalidLength"
        case .badChecksum: "badChecksum"
        case .invalidUTF8: "invalidUTF8"
        case .invalidValue: "invalidValue"
        case .tooDeep: "tooDeep"
        }
    }
}
