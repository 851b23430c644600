internal import Bytes
internal import Identity

/// Why bytes are no record.
package enum RecordError: Error, Hashable, Sendable {
    /// Another version of the format than this program knows.
    case unsupportedVersion(found: UInt8, supported: UInt8)
    /// Not the agreed layout.
    case malformed(String)
}

extension RecordError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupportedVersion(let found, let supported):
            "the record's version is \(found), this program knows version \(supported): update the older one"
        case .malformed(let what): "the bytes are not a record: \(what)"
        }
    }
}

// The wire form of records: a head, then the value.
extension Record {
    /// The version that every head begins with.
    static let formatVersion: UInt8 = 1

    /// Reads the binary form, of which there is exactly one for each record.
    package init(binary: some Collection<UInt8>) throws(RecordError) {
        do {
            var reader = ByteReader(binary)
            self = try Record(reading: &reader)
            try reader.finish()
        } catch let error as RecordError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }

    /// The binary form.
    package var binary: [UInt8] {
        var writer = ByteWriter(capacity: byteCount)
        head.write(to: &writer)
        writer.write(value)
        return writer.bytes
    }

    init(reading reader: inout ByteReader) throws {
        let head = try Head(reading: &reader)
        let value = try reader.readBytes(count: head.valueByteCount)
        guard let record = Record(head: head, value: value) else {
            throw RecordError.malformed("the value is not the one that was signed")
        }
        self = record
    }
}

extension Record.Head {
    /// The bytes of a head without its key.
    private static let fixedByteCount = 1 + 1 + 2 + 32 + MembershipProof.byteCount + 8 + 8 + 4 + 32 + 64

    /// The length of the binary form.
    package var byteCount: Int { Self.fixedByteCount + key.count }

    func write(to writer: inout ByteWriter) {
        writer.write(Record.formatVersion)
        writer.write(UInt8(isTombstone ? 1 : 0))
        writer.write(UInt16(key.count))
        writer.write(key)
        writer.write(writerKey.bytes)
        membership.write(to: &writer)
        writer.write(version)
        writer.write(expirySeconds)
        writer.write(UInt32(valueByteCount))
        writer.write(valueHash.bytes)
        writer.write(signature.bytes)
    }

    init(reading reader: inout ByteReader) throws {
        let format = try reader.readUInt8()
        guard format == Record.formatVersion else {
            throw RecordError.unsupportedVersion(found: format, supported: Record.formatVersion)
        }
        let kind = try reader.readUInt8()
        guard kind <= 1 else { throw RecordError.malformed("the unknown kind \(kind)") }
        let keyCount = Int(try reader.readUInt16())
        guard (1...Record.keyByteLimit).contains(keyCount) else {
            throw RecordError.malformed("a key of \(keyCount) bytes")
        }
        let key = try reader.readBytes(count: keyCount)
        let writerKey = try Ed25519PublicKey(rawRepresentation: reader.readSlice(count: Ed25519PublicKey.byteCount))
        let membership = try MembershipProof(reading: &reader)
        let version = try reader.readUInt64()
        let expiry = try reader.readUInt64()
        guard expiry <= UnixTime.maximum else { throw RecordError.malformed("a time after the year 9999") }
        let count = Int(try reader.readUInt32())
        guard count <= Record.valueByteLimit, kind == 0 || count == 0 else {
            throw RecordError.malformed("a value of \(count) bytes")
        }
        self.init(
            key: key,
            writerKey: writerKey,
            writer: PeerId(publicKey: writerKey),
            membership: membership,
            version: version,
            expirySeconds: expiry,
            isTombstone: kind == 1,
            valueByteCount: count,
            valueHash: try Self.readHash(from: &reader),
            signature: try Self.readSignature(from: &reader)
        )
    }

    private static func readHash(from reader: inout ByteReader) throws -> Bytes32 {
        guard let hash = Bytes32(try reader.readSlice(count: Bytes32.byteCount)) else {
            throw RecordError.malformed("a hash of another length")
        }
        return hash
    }

    private static func readSignature(from reader: inout ByteReader) throws -> Ed25519Signature {
        guard let signature = Ed25519Signature(try reader.readSlice(count: Ed25519Signature.byteCount)) else {
            throw RecordError.malformed("a signature of another length")
        }
        return signature
    }
}
