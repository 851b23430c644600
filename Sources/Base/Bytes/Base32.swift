/// Base32 of RFC 4648, section 6, in lower case and without padding, accepted in exactly that form.
package enum Base32 {
    /// The number of bits and the alphabet, shared with ``CheckedBase32``.
    internal static let radix = BitRadix(bitsPerSymbol: 5, alphabet: "abcdefghijklmnopqrstuvwxyz234567")

    /// The text for `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: radix.encode([UInt8](bytes)), as: UTF8.self)
    }

    /// The bytes for a text; upper case, padding and bits that are not used but set are refused.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        try radix.decode([UInt8](text.utf8)[...], of: text)
    }
}
