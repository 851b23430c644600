// Synthesized conformances encode and decode optional fields through these methods. Codable's defaults omit absent values,
// which requires keys; these write a presence byte instead. Codable declares one method per type, so each is overridden.

extension BincodeFieldEncoder {
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        try output.encode(value)
    }
}

extension BincodeFieldDecoder {
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try input.decode(Value?.self)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try input.decode(Bool?.self)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try input.decode(String?.self)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try input.decode(Double?.self)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try input.decode(Float?.self)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try input.decode(Int?.self)
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try input.decode(Int8?.self)
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try input.decode(Int16?.self)
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try input.decode(Int32?.self)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try input.decode(Int64?.self)
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try input.decode(UInt?.self)
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try input.decode(UInt8?.self)
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try input.decode(UInt16?.self)
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try input.decode(UInt32?.self)
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try input.decode(UInt64?.self)
    }
}
