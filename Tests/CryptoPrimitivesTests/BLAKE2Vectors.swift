import Bytes
import CryptoPrimitives
import TestSupport
import Testing

/// The file that `generate.py` wrote, and its messages and keys.
struct BLAKE2Vectors: Decodable {
    struct Hashes: Decodable, CustomTestStringConvertible {
        let function: String
        /// The hash without a key of the message of as many bytes as the index.
        let plain: [String]
        /// The shortened hash under a key, by the number of bytes of the message.
        let keyed: [String]

        var testDescription: String { function }

        func hash(_ bytes: [UInt8], outputByteCount: Int, key: [UInt8]) -> [UInt8] {
            switch function {
            case "BLAKE2s": BLAKE2s.hash(bytes, outputByteCount: outputByteCount, key: key)
            default: BLAKE2b.hash(bytes, outputByteCount: outputByteCount, key: key)
            }
        }

        var limit: Int { function == "BLAKE2s" ? BLAKE2s.maximumByteCount : BLAKE2b.maximumByteCount }
    }

    struct Derivation: Decodable {
        let keyCount: Int
        let inputCount: Int
        let code: String
        let keys: [String]
    }

    let hashes: [Hashes]
    let derivations: [Derivation]

    static func load() throws -> BLAKE2Vectors { try vectors(named: "CryptoPrimitives/blake2.json") }

    static func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }

    static func key(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(255 - $0) } }
}
