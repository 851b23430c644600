internal import Bytes
internal import Identity

/// The binary form: integers are little-endian, lists and texts follow their count, and a byte of 0 or 1 precedes each
/// optional claim.
extension IdentityToken {
    /// The binary form.
    package var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.write(userId.bytes)
        writer.write(littleEndian: flags.rawValue)
        writer.write(littleEndian: UInt16(scopes.count))
        for scope in scopes {
            writer.write(UInt8(scope.utf8.count))
            writer.write(utf8: scope)
        }
        writer.write(littleEndian: UInt16(attributes.count))
        for attribute in attributes {
            writer.write(attribute.kind.rawValue)
            writer.write(littleEndian: attribute.value)
        }
        writer.write(1 as UInt8)
        writer.write(tokenId.bytes)
        writer.write(littleEndian: issued)
        writer.write(littleEndian: expires)
        writer.write(littleEndian: UInt16(audience.utf8.count))
        writer.write(utf8: audience)
        writer.write(optional: sessionId) { $0.write($1.bytes) }
        writer.write(optional: device) {
            $0.write(UInt8($1.utf8.count))
            $0.write(utf8: $1)
        }
        writer.write(optional: did?.description) {
            $0.write(littleEndian: UInt16($1.utf8.count))
            $0.write(utf8: $1)
        }
        return writer.bytes
    }

    /// Reads the binary form, which must end where `bytes` end.
    ///
    /// A token without an id is refused, because it could not be revoked.
    package init(_ bytes: [UInt8]) throws(IdentityClaimsError) {
        guard bytes.count <= Self.byteLimit else {
            throw .wrongLength(of: "a token", limit: Self.byteLimit, found: bytes.count)
        }
        var reader = ClaimsReader(bytes)
        let userId = try reader.readUserId()
        let flags = Flags(rawValue: try reader.readUInt64())
        let scopes = try reader.readList(of: "scopes") { reader throws(IdentityClaimsError) in
            try reader.readText(count: reader.readUInt8())
        }
        let attributes = try reader.readList(of: "attributes") { reader throws(IdentityClaimsError) in
            let kind = Attribute.Kind(rawValue: UInt8(try reader.readUInt8()))
            return Attribute(kind, try reader.readUInt32())
        }
        guard let tokenId = try reader.readId() else { throw .malformed(reason: "the token has no id") }
        let issued = try reader.readUInt64()
        let expires = try reader.readUInt64()
        let audience = try reader.readText(count: reader.readUInt16())
        let sessionId = try reader.readId()
        let device = try reader.readIsPresent() ? reader.readText(count: reader.readUInt8()) : nil
        let did = try reader.readIsPresent() ? reader.readDID() : nil
        try reader.finish()
        try self.init(
            userId: userId,
            flags: flags,
            scopes: scopes,
            attributes: attributes,
            tokenId: tokenId,
            issued: issued,
            expires: expires,
            audience: audience,
            sessionId: sessionId,
            device: device,
            did: did
        )
    }
}

extension ByteWriter {
    fileprivate mutating func write(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) { write(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    fileprivate mutating func write<Value>(optional value: Value?, _ body: (inout ByteWriter, Value) -> Void) {
        write(value == nil ? 0 as UInt8 : 1)
        if let value { body(&self, value) }
    }
}

/// Reads claims; its errors name the claim.
private struct ClaimsReader {
    private var reader: ByteReader

    init(_ bytes: [UInt8]) {
        reader = ByteReader(bytes)
    }

    mutating func readUInt8() throws(IdentityClaimsError) -> Int {
        do { return Int(try reader.readUInt8()) } catch { throw .malformed(reason: error.description) }
    }

    mutating func readUInt16() throws(IdentityClaimsError) -> Int {
        do { return Int(try reader.readUInt16().byteSwapped) } catch { throw .malformed(reason: error.description) }
    }

    mutating func readUInt32() throws(IdentityClaimsError) -> UInt32 {
        do { return try reader.readUInt32().byteSwapped } catch { throw .malformed(reason: error.description) }
    }

    mutating func readUInt64() throws(IdentityClaimsError) -> UInt64 {
        do { return try reader.readUInt64().byteSwapped } catch { throw .malformed(reason: error.description) }
    }

    mutating func readBytes(count: Int) throws(IdentityClaimsError) -> [UInt8] {
        do { return try reader.readBytes(count: count) } catch { throw .malformed(reason: error.description) }
    }

    mutating func readText(count: Int) throws(IdentityClaimsError) -> String {
        guard let text = String(utf8: try readBytes(count: count)) else {
            throw .malformed(reason: "a text is not valid UTF-8")
        }
        return text
    }

    mutating func readUserId() throws(IdentityClaimsError) -> UserId {
        let bytes = try readBytes(count: UniqueId.byteCount)
        do { return try UserId(bytes) } catch { throw .malformed(reason: error.description) }
    }

    mutating func readDID() throws(IdentityClaimsError) -> DIDKey {
        let text = try readText(count: readUInt16())
        do { return try DIDKey(text) } catch { throw .malformed(reason: error.description) }
    }

    /// Reads an id that may be absent.
    mutating func readId() throws(IdentityClaimsError) -> UniqueId? {
        try readIsPresent() ? UniqueId(readBytes(count: UniqueId.byteCount)) : nil
    }

    /// Whether an optional claim follows.
    mutating func readIsPresent() throws(IdentityClaimsError) -> Bool {
        switch try readUInt8() {
        case 0: return false
        case 1: return true
        case let byte: throw .malformed(reason: "\(byte), where 0 or 1 states whether a claim follows")
        }
    }

    mutating func readList<Element>(
        of claims: String,
        _ readElement: (inout ClaimsReader) throws(IdentityClaimsError) -> Element
    ) throws(IdentityClaimsError) -> [Element] {
        let count = try readUInt16()
        guard count <= IdentityToken.listLimit else {
            throw .tooMany(of: claims, limit: IdentityToken.listLimit, found: count)
        }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try readElement(&self)) }
        return elements
    }

    func finish() throws(IdentityClaimsError) {
        do { try reader.finish() } catch { throw .malformed(reason: error.description) }
    }
}
