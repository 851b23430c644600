/// The encoding of Rust's bincode 1.3 with its default settings, for Codable types.
///
/// All values are little endian and of fixed width. The format is not self-describing: both sides must agree on the type,
/// and a type must read its fields in the order in which it writes them, as synthesized conformances do.
///
/// | Swift | Bytes |
/// |---|---|
/// | `Bool` | one byte, 0 or 1; anything else is refused |
/// | `UInt8` … `UInt64`, `Int8` … `Int64` | 1, 2, 4 or 8 bytes, two's complement |
/// | `UInt`, `Int` | as `UInt64`, `Int64` |
/// | `Float`, `Double` | IEEE 754, 4 or 8 bytes |
/// | `String` | `UInt64` count of bytes, UTF-8 |
/// | `[UInt8]`, `Data` | `UInt64` count, bytes |
/// | arrays, sets | `UInt64` count, elements; each must take at least one byte |
/// | dictionaries | `UInt64` count, then key and value of each entry |
/// | optionals | one byte 0, or 1 and the value |
/// | structs, classes | the fields in the order in which they are encoded, without keys |
/// | enums with raw values | the raw value; a fieldless Rust enum is an enum of `UInt32` |
/// | other enums | `UInt32` tag and the payload; see ``BincodeEnum`` |
///
/// Sets and dictionaries are written in the order of their encoded elements or keys, so that equal values have equal
/// bytes; they are read in any order, without duplicates.
///
/// Input is not trusted: it is at most `limit` bytes, a count is compared with the remaining bytes before anything is
/// allocated, values nest at most ``maximumDepth`` deep, and bytes after the value are refused (bincode itself would ignore
/// them).
public enum Bincode {
    /// The deepest nesting of values: structs, optionals, collections and payloads each count once.
    public static let maximumDepth = 64
    /// The default limit of an input in bytes: 1 MiB.
    public static let defaultLimit = 1 << 20

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` if the type cannot be expressed, ``BytesError/tooDeep(limit:)`` if it is nested too deeply,
    ///   or an error of its own `encode(to:)`.
    public static func serialize<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let output = BincodeOutput()
        try output.encode(value)
        if let failure = output.failure {
            throw failure
        }
        return output.bytes
    }

    /// Decodes a value that takes up all of `bytes`.
    ///
    /// - Throws: ``BytesError`` if the bytes are wrong, `DecodingError` or the type's own errors if their values are.
    public static func deserialize<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Collection<UInt8>,
        limit: Int = defaultLimit
    ) throws -> Value {
        guard bytes.count <= limit else {
            throw BytesError.tooLong(limit: limit, found: bytes.count)
        }
        let input = BincodeInput(bytes)
        let value = try input.decode(type)
        try input.reader.finish()
        return value
    }
}

/// An enum without raw values that Bincode writes as a number and a payload.
///
/// Rust numbers its cases in the order of declaration. Codable only knows their names, so the type states the order
/// once and keeps the conformance that the compiler makes:
///
/// ```swift
/// enum Reply: Codable, BincodeEnum {
///     case done
///     case failed(code: UInt16, reason: String)
///
///     static let bincodeCases = ["done", "failed"]
/// }
/// ```
///
/// The payload follows the tag in the order of declaration, like the fields of a struct. Enums without this conformance
/// and without raw values cannot be encoded or decoded.
public protocol BincodeEnum: Codable {
    /// The names of the cases, the first of which has the tag 0.
    static var bincodeCases: [String] { get }
}
