internal import Bytes
public import Essentials

/// The encoding of values in requests, answers and events.
public enum PayloadEncoding: String, CaseIterable, Codable, Sendable {
    /// JSON (RFC 8259) in UTF-8: any program can read it. Values nest 64 deep, as in CBOR.
    case json
    /// CBOR (RFC 8949): shorter than JSON, with byte strings.
    case cbor

    private static let jsonEncoder = JSONEncoder()
    private static let jsonDecoder = JSONDecoder()

    /// The bytes of a value.
    ///
    /// - Throws: ``RunarError/encodingError(_:)``.
    public func encode<Value: Encodable>(_ value: Value) throws(RunarError) -> Data {
        do {
            switch self {
            case .json:
                let bytes = try Self.jsonEncoder.encode(value)
                try Self.checkDepth(of: bytes)
                return bytes
            case .cbor: return Data(try CBOR.serialize(value))
            }
        } catch {
            throw .encodingError(error)
        }
    }

    /// The value of some bytes.
    ///
    /// No bytes at all are the value `nil`, where that is one.
    ///
    /// - Throws: ``RunarError/decodingError(_:)``.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: Data) throws(RunarError) -> Value
    {
        if bytes.isEmpty, let absent = Self.absent(of: Value.self) as? Value {
            return absent
        }
        do {
            switch self {
            case .json:
                try Self.checkDepth(of: bytes)
                return try Self.jsonDecoder.decode(Value.self, from: bytes)
            case .cbor: return try CBOR.deserialize(Value.self, from: [UInt8](bytes), limit: bytes.count)
            }
        } catch {
            throw .decodingError(error)
        }
    }

    private static func checkDepth(of json: Data) throws {
        guard JSONNesting.isAtMost(in: json) else { throw BytesError.tooDeep(limit: JSONNesting.limit) }
    }

    /// The value `nil` of a type that has one.
    ///
    /// Apart from ``decode(_:from:)``, where the optimizer of Swift 6.3 crashes over the cast for types of this module.
    @inline(never)
    private static func absent(of type: any Any.Type) -> Any? {
        (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ())
    }
}
