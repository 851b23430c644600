internal import Bytes
package import Crypto

/// A STUN message as it travels in a datagram: header, attributes, integrity, fingerprint.
///
/// A decoded packet has consistent lengths and, if it has a fingerprint, a correct one. Its origin is unverified until
/// ``isAuthentic(under:by:leastByteCount:)`` returns true.
package struct STUNPacket: Hashable, Sendable {
    /// The hash of an integrity attribute.
    package enum Algorithm: Hashable, Sendable {
        /// MESSAGE-INTEGRITY: HMAC-SHA1.
        case sha1
        /// MESSAGE-INTEGRITY-SHA256: HMAC-SHA256, whole.
        case sha256
    }

    /// The most bytes of a packet, which fit one datagram on every IPv6 link.
    package static let byteLimit = 1232
    /// The most attributes of a message; those of the standards are fewer.
    private static let attributeLimit = 64
    private static let headerByteCount = 20
    private static let cookie: UInt32 = 0x2112_A442
    static let cookieBytes: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    /// The least bytes to which a code may be cut (RFC 8489, section 14.6).
    private static let leastCodeByteCount = 16

    /// An integrity attribute: where it begins, and the code.
    private struct Seal: Hashable, Sendable {
        let start: Int
        let code: ArraySlice<UInt8>
    }

    /// The message, without attributes after an integrity attribute (RFC 8489, section 14.5).
    package private(set) var message: STUNMessage
    /// Whether it has a fingerprint, which was verified.
    package private(set) var hasFingerprint = false
    private let bytes: [UInt8]
    private var sha1: Seal?
    private var sha256: Seal?

    /// Reads a datagram.
    package init(_ bytes: [UInt8]) throws(STUNError) {
        guard bytes.count >= Self.headerByteCount, bytes[0] < 0x40, bytes[4..<8].elementsEqual(Self.cookieBytes) else {
            throw .notSTUN
        }
        guard bytes.count <= Self.byteLimit else { throw .tooLong(byteCount: bytes.count) }
        let length = Int(bytes[2]) << 8 | Int(bytes[3])
        guard length & 3 == 0, length + Self.headerByteCount == bytes.count else {
            throw .malformed("\(length) bytes announced, \(bytes.count - Self.headerByteCount) there")
        }
        let type = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        guard let kind = STUNMessage.Class(rawValue: UInt8(type >> 7 & 0x2 | type >> 4 & 0x1)),
            let transaction = STUNTransactionId(bytes[8..<Self.headerByteCount])
        else { throw .notSTUN }
        let method = type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80
        self.bytes = bytes
        message = STUNMessage(kind, method: method, transaction: transaction)
        do {
            try readAttributes()
        } catch let error as STUNError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }

    private mutating func readAttributes() throws {
        var reader = ByteReader(bytes[Self.headerByteCount...])
        for _ in 0..<Self.attributeLimit {
            guard !reader.isAtEnd else { return }
            let start = bytes.count - reader.remaining
            let type = try reader.readUInt16()
            let count = Int(try reader.readUInt16())
            let value = try reader.readSlice(count: count)
            _ = try reader.readSlice(count: -count & 3)
            switch type {
            case STUNAttributeType.fingerprint:
                guard reader.isAtEnd, count == 4 else { throw STUNError.malformed("a fingerprint before the end") }
                guard value.elementsEqual(Self.fingerprint(of: bytes[..<start])) else {
                    throw STUNError.wrongFingerprint
                }
                hasFingerprint = true
            case STUNAttributeType.integritySHA256 where sha256 == nil:
                guard (Self.leastCodeByteCount...SHA256.byteCount).contains(count), count & 3 == 0 else {
                    throw BytesError.invalidLength(count)
                }
                sha256 = Seal(start: start, code: value)
            case STUNAttributeType.integrity where sha1 == nil && sha256 == nil:
                guard count == Insecure.SHA1.byteCount else { throw BytesError.invalidLength(count) }
                sha1 = Seal(start: start, code: value)
            case _ where sha1 != nil || sha256 != nil: continue
            default:
                let attribute = try STUNAttribute(type: type, value: value, transaction: message.transaction)
                message.attributes.append(attribute)
            }
        }
        guard reader.isAtEnd else { throw STUNError.malformed("more than \(Self.attributeLimit) attributes") }
    }

    /// Whether a holder of `key` made it, header and attributes; compared in constant time.
    ///
    /// A code that was cut is good only if `leastByteCount` allows it: both sides must have agreed on that.
    package func isAuthentic(
        under key: SymmetricKey,
        by algorithm: Algorithm,
        leastByteCount: Int = SHA256.byteCount
    ) -> Bool {
        guard let seal = algorithm == .sha1 ? sha1 : sha256,
            algorithm == .sha1 || seal.code.count >= leastByteCount
        else { return false }
        let covered = Self.covered(bytes[..<seal.start], sealByteCount: 4 + seal.code.count)
        let code = Self.code(of: covered, under: key, by: algorithm)
        return ConstantTime.areEqual(code.prefix(seal.code.count), seal.code)
    }
}

// Writing.
extension STUNPacket {
    /// The datagram of a message, sealed with `key` if there is one.
    package static func encode(
        _ message: STUNMessage,
        key: SymmetricKey? = nil,
        by algorithm: Algorithm = .sha256,
        hasFingerprint: Bool = true
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        let kind = UInt16(message.kind.rawValue)
        let method = message.method
        writer.write(method & 0xF | (method & 0x70) << 1 | (method & 0xF80) << 2 | (kind & 1) << 4 | (kind & 2) << 7)
        writer.write(UInt16(0))
        writer.write(Self.cookie)
        writer.write(message.transaction.bytes)
        for attribute in message.attributes { attribute.write(to: &writer, transaction: message.transaction) }
        if let key {
            let byteCount = algorithm == .sha1 ? Insecure.SHA1.byteCount : SHA256.byteCount
            let covered = Self.covered(writer.bytes[...], sealByteCount: 4 + byteCount)
            let type = algorithm == .sha1 ? STUNAttributeType.integrity : STUNAttributeType.integritySHA256
            writer.writeAttribute(type, Self.code(of: covered, under: key, by: algorithm))
        }
        if hasFingerprint {
            let covered = Self.covered(writer.bytes[...], sealByteCount: 8)
            writer.writeAttribute(STUNAttributeType.fingerprint, Self.fingerprint(of: covered[...]))
        }
        precondition(writer.count <= Self.byteLimit, "a STUN message of \(writer.count) bytes")
        return Self.covered(writer.bytes[...], sealByteCount: 0)
    }

    /// The bytes that a code or fingerprint covers: everything before it, with the length up to its own end.
    private static func covered(_ bytes: ArraySlice<UInt8>, sealByteCount: Int) -> [UInt8] {
        var covered = Array(bytes)
        let length = bytes.count - Self.headerByteCount + sealByteCount
        covered[2] = UInt8(truncatingIfNeeded: length >> 8)
        covered[3] = UInt8(truncatingIfNeeded: length)
        return covered
    }

    private static func code(of bytes: [UInt8], under key: SymmetricKey, by algorithm: Algorithm) -> [UInt8] {
        switch algorithm {
        case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: bytes, using: key))
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        }
    }

    /// The CRC-32 of ITU V.42, XORed with "STUN" so that it is not that of the payload (RFC 8489, section 14.7).
    private static func fingerprint(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var sum = UInt32.max
        for byte in bytes { sum = Self.crcSteps[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
        var writer = ByteWriter(capacity: 4)
        writer.write(~sum ^ 0x5354_554E)
        return writer.bytes
    }

    private static let crcSteps: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
    }
}
