internal import Bytes
internal import Foundation

/// The decoder of an input, which its first byte names; the other bytes are read.
///
/// An input with another first byte is read as a NanoTDF, whose first byte is `L`, and as PEM text, which begins with `-`.
enum Format: UInt8, CaseIterable {
    case message = 1
    case deposit = 2
    case mail = 3
    /// A signature and the fields of a card.
    case card = 4
    /// The fields of a card, which the fuzzer signs, so that mutations reach the checks after that of the signature.
    case cardFields = 5
    case cardText = 6
    case letter = 7
    case receipt = 8
    case thought = 9
    /// The plaintext of an envelope.
    case envelope = 10
    case frame = 11
    case stream = 12
    case notice = 13
}

/// An input with which a corpus begins.
struct Seed {
    let format: Format
    let bytes: [UInt8]

    /// The bytes of the file: the name of the decoder, and its input.
    var input: Data { Data([format.rawValue] + bytes) }
}

/// The hexadecimal texts of a file of vectors, by group and name; other values are left out.
struct Vectors {
    private let groups: [String: [String: String]]

    /// Reads the file of a target below a folder of vectors.
    init(of target: String, in folder: URL) throws {
        let data = try Data(contentsOf: folder.appending(path: target).appending(path: "vectors.json"))
        let values = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        groups = (values ?? [:]).compactMapValues { $0 as? [String: String] }
    }

    /// The bytes of each vector of some groups, in the order of the names.
    func bytes(_ names: String...) throws -> [[UInt8]] {
        try names.flatMap { (name: String) throws -> [[UInt8]] in
            guard let group = groups[name] else { throw BytesError.invalidValue("no vectors named \(name)") }
            return try group.sorted { $0.key < $1.key }.map { try Hex.decode($0.value) }
        }
    }
}

/// Returns the result of `body` for an accepted value, which has to succeed.
func made<Value>(_ body: () throws -> Value) -> Value {
    do {
        return try body()
    } catch {
        preconditionFailure("an accepted value is refused when it is written again: \(error)")
    }
}
