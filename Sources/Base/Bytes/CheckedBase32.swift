/// Base32 with a checksum, for texts that people read out, write down and type.
///
/// The six characters at the end are the checksum of Bech32m (BIP 350) over the alphabet of RFC 4648 and without a
/// human-readable part. Up to four wrong characters in a text of at most 89 are detected with certainty, anything
/// else but once in 10^9. Reading accepts upper case and ignores spaces and dashes.
package enum CheckedBase32 {
    /// The number of characters that carry the checksum.
    package static let checksumLength = 6
    /// The most bytes that a text may carry; beyond them the checksum promises less.
    package static let maximumByteCount = 512
    /// The longest text: a person types no more separators than letters, and the bound keeps reading cheap.
    private static let maximumCharacterCount = 2 * (maximumByteCount * 8 / 5 + 1 + checksumLength)

    private static let radix = BitRadix(
        bitsPerSymbol: 5,
        alphabet: "abcdefghijklmnopqrstuvwxyz234567",
        aliases: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    )

    /// The text for at most ``maximumByteCount`` bytes, in lower case and without separators.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        precondition(bytes.count <= maximumByteCount, "\(bytes.count) bytes in a text that people type")
        let values = radix.values(of: [UInt8](bytes))
        let checksum = remainder(of: values + [UInt8](repeating: 0, count: checksumLength)) ^ target
        let check = (0..<checksumLength).map { index in
            UInt8(checksum >> UInt32(5 * (checksumLength - 1 - index)) & 31)
        }
        return radix.text(ofValues: values + check)
    }

    /// Decodes a text that ``encode(_:)`` made, which a person may have grouped, capitalised or mistyped.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        guard text.utf8.count <= maximumCharacterCount else {
            throw .tooLong(limit: maximumCharacterCount, found: text.utf8.count)
        }
        var values: [UInt8] = []
        for (offset, character) in text.utf8.enumerated() where !isSeparator(character) {
            guard let value = radix.value(ofSymbol: character) else {
                throw .invalidCharacter(in: text, atUTF8Offset: offset)
            }
            values.append(value)
        }
        guard values.count >= checksumLength else {
            throw .invalidLength(values.count)
        }
        guard remainder(of: values) == target else {
            throw .badChecksum
        }
        let bytes = try radix.bytes(fromValues: values.dropLast(checksumLength))
        guard bytes.count <= maximumByteCount else {
            throw .tooLong(limit: maximumByteCount, found: bytes.count)
        }
        return bytes
    }

    private static func isSeparator(_ character: UInt8) -> Bool {
        character == UInt8(ascii: " ") || character == UInt8(ascii: "-")
    }

    /// The remainder that a valid text leaves (BIP 350).
    private static let target: UInt32 = 0x2BC8_30A3
    /// The multiples of the generator polynomial over GF(32) by 1, 2, 4, 8 and 16 (BIP 173).
    private static let generator: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]

    /// Divides the polynomial with these coefficients, and a leading one, by the generator.
    private static func remainder(of values: [UInt8]) -> UInt32 {
        var remainder: UInt32 = 1
        for value in values {
            let carry = remainder >> 25
            remainder = (remainder & 0x1FF_FFFF) << 5 ^ UInt32(value)
            for (bit, multiple) in generator.enumerated() where carry >> UInt32(bit) & 1 == 1 {
                remainder ^= multiple
            }
        }
        return remainder
    }
}
