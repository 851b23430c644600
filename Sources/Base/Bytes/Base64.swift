/// Standard base64 with padding (RFC 4648, section 4), accepted in its canonical form only.
package enum Base64 {
    private static let radix = BitRadix(
        bitsPerSymbol: 6,
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )
    private static let padding = UInt8(ascii: "=")

    /// The padded text for `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = radix.encode([UInt8](bytes))
        while !text.count.isMultiple(of: 4) {
            text.append(padding)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes for a text; missing padding, white space and bits that are not used but set are refused.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        let characters = [UInt8](text.utf8)
        var symbols = characters[...]
        while symbols.last == padding, characters.count - symbols.count < 2 {
            symbols.removeLast()
        }
        let bytes = try radix.decode(symbols, of: text)
        guard characters.count.isMultiple(of: 4) else {
            throw .nonCanonical("padding to a multiple of four characters is missing or wrong")
        }
        return bytes
    }
}

/// The URL-safe base64 alphabet without padding (RFC 4648, section 5), accepted in its canonical form only.
package enum Base64URL {
    private static let radix = BitRadix(
        bitsPerSymbol: 6,
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )

    /// The text for `bytes`, without padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: radix.encode([UInt8](bytes)), as: UTF8.self)
    }

    /// The bytes for a text; padding, white space and bits that are not used but set are refused.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        try radix.decode([UInt8](text.utf8)[...], of: text)
    }

    /// Returns the number of characters of the text for `byteCount` bytes.
    package static func characterCount(ofBytes byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }
}
