/// Bits gathered into codewords, the most significant first.
struct BitWriter {
    /// The codewords begun so far; unused bits of the last are 0.
    private(set) var bytes: [UInt8] = []
    /// The bits written so far.
    private(set) var count = 0

    /// Appends the lowest `width` bits of `value`.
    mutating func append(_ value: Int, width: Int) {
        for place in (0..<width).reversed() {
            if count % 8 == 0 { bytes.append(0) }
            if value >> place & 1 == 1 { bytes[count / 8] |= 0x80 >> UInt8(count % 8) }
            count += 1
        }
    }
}

/// Bits taken out of codewords, the most significant first.
struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Starts before the first bit of `bytes`.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The bits not yet read.
    var remaining: Int { bytes.count * 8 - position }

    /// The next `width` bits as a number, or nil if fewer are left, which are then still unread.
    mutating func read(_ width: Int) -> Int? {
        guard width >= 0, width < Int.bitWidth, width <= remaining else { return nil }
        var value = 0
        for place in position..<position + width {
            value = value << 1 | Int(bytes[place / 8] >> UInt8(7 - place % 8)) & 1
        }
        position += width
        return value
    }
}
