/// Standard base64 with padding (RFC 4648, section 4), accepted in its canonical form only.
package enum Base64 {
    private static let radix = BitRadix(
        bitsPerSymbol: 6,
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )

    /// The padded text for `bytes`.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        radix.paddedText(for: [UInt8](bytes))
    }

    /// The bytes for a text; missing padding, white space and bits that are not used but set are refused.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        try radix.bytes(ofPadded: text)
    }
}

/// The URL-safe base64 alphabet (RFC 4648, section 5), without padding unless asked for, in its canonical form only.
package enum Base64URL {
    /// The padding that is expected of a text.
    package enum Padding: Sendable {
        /// Texts with padding are refused.
        case absent
        /// Texts without their padding are refused.
        case required
        /// Texts have their whole padding or none.
        case optional
    }

    private static let radix = BitRadix(
        bitsPerSymbol: 6,
        alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )

    /// The text for `bytes`, without padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: radix.encode([UInt8](bytes)), as: UTF8.self)
    }

    /// The text for `bytes`, filled up to a multiple of four characters if `padded`.
    package static func encode(_ bytes: some Collection<UInt8>, padded: Bool) -> String {
        padded ? radix.paddedText(for: [UInt8](bytes)) : encode(bytes)
    }

    /// The bytes for a text; padding, white space and bits that are not used but set are refused.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        try radix.decode([UInt8](text.utf8)[...], of: text)
    }

    /// The bytes for a text; other padding, white space and bits that are not used but set are refused.
    package static func decode(_ text: String, padding: Padding) throws(BytesError) -> [UInt8] {
        switch padding {
        case .optional where text.utf8.last == BitRadix.padding, .required: try radix.bytes(ofPadded: text)
        case .optional, .absent: try decode(text)
        }
    }

    /// Returns the number of characters of the text without padding for `byteCount` bytes.
    package static func characterCount(ofBytes byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }
}

extension BitRadix {
    /// The character that fills base64 up to a multiple of four characters.
    fileprivate static let padding = UInt8(ascii: "=")

    fileprivate func paddedText(for bytes: [UInt8]) -> String {
        var text = encode(bytes)
        while !text.count.isMultiple(of: 4) {
            text.append(Self.padding)
        }
        return String(decoding: text, as: UTF8.self)
    }

    fileprivate func bytes(ofPadded text: String) throws(BytesError) -> [UInt8] {
        let characters = [UInt8](text.utf8)
        var symbols = characters[...]
        while symbols.last == Self.padding, characters.count - symbols.count < 2 {
            symbols.removeLast()
        }
        let bytes = try decode(symbols, of: text)
        guard characters.count.isMultiple(of: 4) else {
            throw .nonCanonical("padding to a multiple of four characters is missing or wrong")
        }
        return bytes
    }
}
