/// Base58 with the alphabet of Bitcoin: letters and digits that are hard to confuse, one leading `1` per zero byte.
///
/// Conversion takes time quadratic in the length, hence the bound.
package enum Base58 {
    /// The most bytes that can be encoded or decoded.
    package static let maximumByteCount = 256
    /// The longest text of `maximumByteCount` bytes: log 256 / log 58 is below 1.366.
    private static let maximumCharacterCount = maximumByteCount * 1366 / 1000 + 1

    private static let symbols = [UInt8]("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    private static let values: [UInt8: UInt8] = .init(
        uniqueKeysWithValues: symbols.enumerated().map { ($1, UInt8($0)) }
    )

    /// The text for at most ``maximumByteCount`` bytes.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        precondition(bytes.count <= maximumByteCount, "\(bytes.count) bytes in base58")
        let zeros = bytes.prefix { $0 == 0 }.count
        let digits = convert(bytes.dropFirst(zeros), from: 256, to: 58)
        let text = [UInt8](repeating: symbols[0], count: zeros) + digits.map { symbols[Int($0)] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes for a text; every text of the alphabet has exactly one value and is the only one for it.
    package static func decode(_ text: String) throws(BytesError) -> [UInt8] {
        guard text.utf8.count <= maximumCharacterCount else {
            throw .tooLong(limit: maximumCharacterCount, found: text.utf8.count)
        }
        var digits: [UInt8] = []
        for (offset, character) in text.utf8.enumerated() {
            guard let digit = values[character] else {
                throw .invalidCharacter(in: text, atUTF8Offset: offset)
            }
            digits.append(digit)
        }
        let zeros = digits.prefix { $0 == 0 }.count
        let bytes = [UInt8](repeating: 0, count: zeros) + convert(digits.dropFirst(zeros), from: 58, to: 256)
        guard bytes.count <= maximumByteCount else {
            throw .tooLong(limit: maximumByteCount, found: bytes.count)
        }
        return bytes
    }

    /// Rewrites a number without leading zeros, most significant digit first, in another base.
    private static func convert(_ digits: some Collection<UInt8>, from base: Int, to newBase: Int) -> [UInt8] {
        var reversed: [UInt8] = []
        for digit in digits {
            var carry = Int(digit)
            for index in reversed.indices {
                carry += Int(reversed[index]) * base
                reversed[index] = UInt8(carry % newBase)
                carry /= newBase
            }
            while carry > 0 {
                reversed.append(UInt8(carry % newBase))
                carry /= newBase
            }
        }
        return reversed.reversed()
    }
}
