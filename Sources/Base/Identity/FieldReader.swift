internal import Bytes

/// Reads the fields of a binary form; its errors name the subject.
struct FieldReader {
    private var reader: ByteReader
    private let subject: String

    init(_ bytes: some Collection<UInt8>, of subject: String) {
        reader = ByteReader(bytes)
        self.subject = subject
    }

    /// Refuses another version than `version`, naming both.
    mutating func expectVersion(_ version: UInt8) throws(IdentityError) {
        let found = try readUInt8()
        guard found == version else {
            throw .malformed(of: subject, reason: "its version is \(found), this program knows version \(version)")
        }
    }

    mutating func readUInt8() throws(IdentityError) -> UInt8 {
        do { return try reader.readUInt8() } catch { throw malformed(error) }
    }

    mutating func readUInt16() throws(IdentityError) -> UInt16 {
        do { return try reader.readUInt16() } catch { throw malformed(error) }
    }

    mutating func readUInt32() throws(IdentityError) -> UInt32 {
        do { return try reader.readUInt32() } catch { throw malformed(error) }
    }

    mutating func readUInt64() throws(IdentityError) -> UInt64 {
        do { return try reader.readUInt64() } catch { throw malformed(error) }
    }

    mutating func readBytes(count: Int) throws(IdentityError) -> [UInt8] {
        do { return try reader.readBytes(count: count) } catch { throw malformed(error) }
    }

    mutating func readPeerId() throws(IdentityError) -> PeerId {
        try PeerId(rawRepresentation: readBytes(count: PeerId.byteCount))
    }

    mutating func readNetworkId() throws(IdentityError) -> NetworkId {
        try NetworkId(rawRepresentation: readBytes(count: NetworkId.byteCount))
    }

    mutating func readPublicKey() throws(IdentityError) -> Ed25519PublicKey {
        try Ed25519PublicKey(rawRepresentation: readBytes(count: Ed25519PublicKey.byteCount))
    }

    mutating func readSignature() throws(IdentityError) -> Ed25519Signature {
        let bytes = try readBytes(count: Ed25519Signature.byteCount)
        guard let signature = Ed25519Signature(bytes) else {
            throw .wrongLength(of: "a signature", expected: Ed25519Signature.byteCount, found: bytes.count)
        }
        return signature
    }

    mutating func readAddress() throws(IdentityError) -> SocketAddress {
        do { return try SocketAddress(reading: &reader) } catch { throw malformed(error) }
    }

    func finish() throws(IdentityError) {
        do { try reader.finish() } catch { throw malformed(error) }
    }

    private func malformed(_ error: BytesError) -> IdentityError {
        .malformed(of: subject, reason: error.description)
    }
}
