internal import Bytes
package import Identity

/// The right to a number of tokens in each epoch until a time.
///
/// A voucher names no person: its id is random, or a keyed hash of a purchase. The issuer stores none. The text form is
/// base64url without padding: version 1, id 16, allowance 2 and expiry 8 bytes, big-endian, then an authentication code of 32
/// bytes, which the issuer alone can verify.
package struct Voucher: Hashable, Sendable {
    /// The first byte of the format.
    package static let version: UInt8 = 1
    /// The size of an id.
    package static let idByteCount = 16
    /// The size of the fields, without the authentication code.
    package static let fieldByteCount = 1 + idByteCount + 2 + 8
    /// The size of the authentication code.
    package static let codeByteCount = 32
    /// The characters of every text form.
    package static let characterCount = Base64URL.characterCount(ofBytes: fieldByteCount + codeByteCount)

    /// The id, of ``idByteCount`` bytes; vouchers with one id share one allowance.
    package let id: [UInt8]
    /// The most tokens in an epoch.
    package let allowance: UInt16
    /// The end, in seconds since 1970; the voucher is refused from then on.
    package let expires: UInt64

    package init(id: [UInt8], allowance: UInt16, expires: UInt64) {
        precondition(id.count == Self.idByteCount, "an id has \(id.count) bytes")
        self.id = id
        self.allowance = allowance
        self.expires = expires
    }

    /// The value under which the issuer counts: the hash of the id, so that its file names no voucher.
    package var entitlement: Bytes32 { Bytes32(sha256: id) }

    /// The fields of the text form in order.
    package var fields: [UInt8] {
        var writer = ByteWriter(capacity: Self.fieldByteCount)
        writer.write(Self.version)
        writer.write(id)
        writer.write(allowance)
        writer.write(expires)
        return writer.bytes
    }

    /// Reads the fields, whose authentication code is not a part of them; nil for another version or length.
    package init?(fields: [UInt8]) {
        var reader = ByteReader(fields)
        do throws(BytesError) {
            guard try reader.readUInt8() == Self.version else { return nil }
            id = try reader.readBytes(count: Self.idByteCount)
            allowance = try reader.readUInt16()
            expires = try reader.readUInt64()
            try reader.finish()
        } catch {
            return nil
        }
    }

    /// Reads the fields of a text form without a check of its authentication code, as its holder does; nil for another text.
    package init?(unverified text: String) {
        guard let parts = Self.parts(of: text) else { return nil }
        self.init(fields: parts.fields)
    }

    /// Splits a text form into its fields and its authentication code, and checks neither; nil for another text.
    package static func parts(of text: String) -> (fields: [UInt8], code: [UInt8])? {
        guard text.utf8.count == characterCount, let bytes = try? Base64URL.decode(text) else {  // nil: another text
            return nil
        }
        return (Array(bytes.prefix(fieldByteCount)), Array(bytes.dropFirst(fieldByteCount)))
    }

    /// Returns the text form with an authentication code, which has ``codeByteCount`` bytes.
    package func text(code: [UInt8]) -> String {
        precondition(code.count == Self.codeByteCount, "a code has \(code.count) bytes")
        return Base64URL.encode(fields + code)
    }
}
