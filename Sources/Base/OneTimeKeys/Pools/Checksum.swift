internal import Bytes
internal import Crypto

/// A SHA-256 at the end of an encoding, against accidents.
enum Checksum {
    /// Returns the bytes with their checksum at the end.
    static func appended(to bytes: [UInt8]) -> [UInt8] { bytes + SHA256.hash(data: bytes) }

    /// The bytes before the checksum, if it is theirs.
    static func verified(_ bytes: [UInt8]) throws(BytesError) -> ArraySlice<UInt8> {
        guard bytes.count >= SHA256.byteCount else {
            throw .truncated(needed: SHA256.byteCount, available: bytes.count)
        }
        let content = bytes.dropLast(SHA256.byteCount)
        guard SHA256.hash(data: Array(content)) == bytes.suffix(SHA256.byteCount) else { throw .badChecksum }
        return content
    }
}
