/// CBOR (RFC 8949) for Codable types.
///
/// | Swift | CBOR |
/// |---|---|
/// | integers | unsigned or negative integers |
/// | `Float`, `Double` | the shortest floating-point number that is exactly the value |
/// | `String`, `Bool`, nil | text, true or false, null |
/// | `[UInt8]`, `Data` | byte string |
/// | arrays, sets | array; a set in the order of its encoded elements |
/// | structs, classes, dictionaries with keys of text or integers | map with keys of text |
/// | enums with raw values | the raw value |
/// | other enums | what Codable makes of them: a map of the case's name to its values |
///
/// The output is deterministic (RFC 8949, section 4.2.1): shortest heads, no indefinite lengths, and the entries of maps
/// sorted by the bytes of their keys. It has the shape of the JSON of the same type, so that either can be chosen for a
/// service; only bytes are bytes and not text.
///
/// Reading is liberal towards other implementations: any order of entries, any length of heads, indefinite lengths, an
/// array of integers for bytes, integral floating-point numbers for integers, integers for keys, and tags, which are
/// passed over. Duplicate keys are refused.
///
/// Input is not trusted: it is at most `limit` bytes, all of it is validated before it is decoded, arrays and maps nest at
/// most ``maximumDepth`` deep, and bytes after the value are refused.
public enum CBOR {
    /// The deepest nesting of arrays and maps.
    public static let maximumDepth = 64
    /// The default limit of an input in bytes: 1 MiB.
    public static let defaultLimit = 1 << 20

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` if the type cannot be expressed, ``BytesError/tooDeep(limit:)`` if it is nested too deeply,
    ///   or an error of its own `encode(to:)`.
    public static func serialize<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let output = DataItemOutput()
        let item = try output.item(for: value, path: [])
        if let failure = output.failure {
            throw failure
        }
        var writer = ByteWriter(capacity: 64)
        try item.write(to: &writer, depth: 0)
        return writer.bytes
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
        let reader = ByteReader(bytes)
        var rest = reader
        try rest.skipItem()
        try rest.finish()
        return try DataItemDecoder(reader: reader, path: []).decode(type)
    }
}
