internal import Bytes

/// Deterministic CBOR (RFC 8949, section 4.2.1): each value has one encoding, so that a hash or a signature of it is one of
/// the value.
package enum CanonicalCBOR {
    /// Encodes the fields of `subject`, which the words of an error name.
    package static func encode<Fields: Encodable>(_ fields: Fields, of subject: String) throws(CircleError) -> [UInt8] {
        do {
            return try CBOR.serialize(fields)
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }

    /// Decodes the fields of `subject` from at most `limit` bytes, and refuses every other encoding of them.
    package static func decode<Fields: Codable>(
        _ type: Fields.Type,
        from bytes: [UInt8],
        limit: Int,
        of subject: String
    ) throws(CircleError) -> Fields {
        guard bytes.count <= limit else { throw .tooLong(subject, limit: limit, found: bytes.count) }
        do {
            let fields = try CBOR.deserialize(type, from: bytes, limit: limit)
            guard try CBOR.serialize(fields) == bytes else {
                throw BytesError.nonCanonical("the fields are not in deterministic CBOR")
            }
            return fields
        } catch {
            throw .malformed(of: subject, reason: "\(error)")
        }
    }

    /// Checks the version of `subject`, of which this program reads 1.
    package static func checkVersion(_ version: Int, of subject: String) throws(CircleError) {
        guard version == 1 else {
            throw .malformed(of: subject, reason: "version \(version), this device reads version 1")
        }
    }
}
