/// Two hexadecimal digits per byte (RFC 4648, section 8).
package enum Hex {
    private static let radix = BitRadix(bitsPerSymbol: 4, alphabet: "0123456789abcdef", aliases: "0123456789ABCDEF")

    /// Lower-case digits for `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: radix.encode([UInt8](bytes)), as: UTF8.self)
    }

    /// The bytes for an even number of digits in either case, and nothing else.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        try radix.decode([UInt8](text.utf8)[...], of: text)
    }

    /// The value of one digit in either case; nil for other characters.
    ///
    /// A caller that reads secret digits decodes them one by one into memory that it wipes.
    package static func value(ofDigit digit: UInt8) -> UInt8? { radix.value(ofSymbol: digit) }
}
