/// The common part of hexadecimal, base32 and base64: symbols of 4, 5 or 6 bits, most significant bit first.
internal struct BitRadix: Sendable {
    private let bitsPerSymbol: Int
    private let symbols: [UInt8]
    /// The value of each ASCII character, or `none`.
    private let values: [UInt8]
    private static let none: UInt8 = 0xFF

    /// An alphabet of 2^`bitsPerSymbol` ASCII characters; `aliases` are accepted for the symbols in the same place.
    init(bitsPerSymbol: Int, alphabet: String, aliases: String = "") {
        self.bitsPerSymbol = bitsPerSymbol
        symbols = [UInt8](alphabet.utf8)
        precondition(symbols.count == 1 << bitsPerSymbol, "an alphabet of \(symbols.count) characters")
        var values = [UInt8](repeating: Self.none, count: 256)
        for alphabet in [alphabet, aliases] {
            for (value, symbol) in alphabet.utf8.enumerated() {
                values[Int(symbol)] = UInt8(value)
            }
        }
        self.values = values
    }

    /// The symbols for `bytes`, the last one filled up with zero bits.
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + bitsPerSymbol - 1) / bitsPerSymbol)
        for value in values(of: bytes) {
            text.append(symbols[Int(value)])
        }
        return text
    }

    /// The bytes for symbols; `text` is the whole input, of which `symbols` are the first characters.
    func decode(_ symbols: ArraySlice<UInt8>, of text: String) throws(BytesError) -> [UInt8] {
        try bytes(fromValues: try values(ofSymbols: symbols, of: text))
    }

    /// Splits bytes into numbers of `bitsPerSymbol` bits.
    func values(of bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count * 8 + bitsPerSymbol - 1) / bitsPerSymbol)
        let mask: UInt32 = 1 << UInt32(bitsPerSymbol) - 1
        var pending: UInt32 = 0
        var pendingBits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= bitsPerSymbol {
                pendingBits -= bitsPerSymbol
                result.append(UInt8(pending >> UInt32(pendingBits) & mask))
            }
        }
        if pendingBits > 0 {
            result.append(UInt8(pending << UInt32(bitsPerSymbol - pendingBits) & mask))
        }
        return result
    }

    /// Joins numbers of `bitsPerSymbol` bits; superfluous symbols and bits that are not zero are refused.
    func bytes(fromValues values: some Collection<UInt8>) throws(BytesError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(values.count * bitsPerSymbol / 8)
        var pending: UInt32 = 0
        var pendingBits = 0
        for value in values {
            pending = pending << UInt32(bitsPerSymbol) | UInt32(value)
            pendingBits += bitsPerSymbol
            if pendingBits >= 8 {
                pendingBits -= 8
                result.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
            }
        }
        guard pendingBits < bitsPerSymbol else {
            throw .invalidLength(values.count)
        }
        guard pending & (1 << UInt32(pendingBits) - 1) == 0 else {
            throw .nonCanonical("unused bits of the last character are not zero")
        }
        return result
    }

    /// Looks up the characters of a text.
    func values(ofSymbols symbols: ArraySlice<UInt8>, of text: String) throws(BytesError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(symbols.count)
        for (offset, symbol) in symbols.enumerated() {
            let value = values[Int(symbol)]
            guard value != Self.none else {
                throw .invalidCharacter(in: text, atUTF8Offset: offset)
            }
            result.append(value)
        }
        return result
    }

    /// The number that one ASCII character stands for.
    func value(ofSymbol symbol: UInt8) -> UInt8? {
        let value = values[Int(symbol)]
        return value == Self.none ? nil : value
    }

    /// The text of numbers of `bitsPerSymbol` bits.
    func text(ofValues values: some Collection<UInt8>) -> String {
        String(decoding: values.map { symbols[Int($0)] }, as: UTF8.self)
    }
}

extension BytesError {
    /// Names the scalar of `text` that contains the byte at `offset`.
    internal static func invalidCharacter(in text: String, atUTF8Offset offset: Int) -> BytesError {
        var end = 0
        for (position, scalar) in text.unicodeScalars.enumerated() {
            end += UTF8.width(scalar)
            if offset < end {
                return .invalidCharacter(scalar, position: position)
            }
        }
        return .invalidLength(text.utf8.count)
    }
}
