internal import Bytes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How values are written in requests, answers and events.
public enum PayloadEncoding: String, CaseIterable, Codable, Sendable {
    /// JSON (RFC 8259): any program can read it.
    case json

    private static let jsonEncoder = JSONEncoder()
    private static let jsonDecoder = JSONDecoder()

    /// The bytes of a value.
    ///
    /// - Throws: ``RunarError/encodingError(_:)``.
    public func encode<Value: Encodable>(_ value: Value) throws(RunarError) -> Data {
        do {
            return try Self.jsonEncoder.encode(value)
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
        if bytes.isEmpty, let absent = (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Value
        {
            return absent
        }
        do {
            return try Self.jsonDecoder.decode(Value.self, from: bytes)
        } catch {
            throw .decodingError(error)
        }
    }
}
