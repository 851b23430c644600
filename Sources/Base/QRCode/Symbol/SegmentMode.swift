/// The encoding of the characters of a segment as bits (ISO/IEC 18004, table 2).
enum SegmentMode: Int, Sendable {
    /// Three digits in ten bits.
    case numeric = 0b0001
    /// Two of 45 characters in eleven bits.
    case alphanumeric = 0b0010
    /// Which of several symbols of one message this is.
    case structuredAppend = 0b0011
    /// A byte in eight bits.
    case byte = 0b0100
    /// GS1 formatted data.
    case fnc1First = 0b0101
    /// The character set of the bytes that follow.
    case extendedChannel = 0b0111
    /// A character of Shift JIS in thirteen bits.
    case kanji = 0b1000
    /// Data formatted as some industry agreed.
    case fnc1Second = 0b1001

    /// The bits of the indicator that opens a segment; all zero, it ends the message.
    static let indicatorWidth = 4

    /// The bits of the character count behind the indicator (table 3), or nil for modes without one.
    func countWidth(in version: QRVersion) -> Int? {
        let widths: [Int]
        switch self {
        case .numeric: widths = [10, 12, 14]
        case .alphanumeric: widths = [9, 11, 13]
        case .byte: widths = [8, 16, 16]
        case .kanji: widths = [8, 10, 12]
        case .structuredAppend, .fnc1First, .extendedChannel, .fnc1Second: return nil
        }
        return widths[version.number < 10 ? 0 : version.number < 27 ? 1 : 2]
    }
}

/// The 45 characters of alphanumeric segments (table 5).
enum AlphanumericTable {
    /// The characters in the order of their values.
    static let characters = [UInt8]("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)

    /// The value of an ASCII character, or nil if it has none.
    static func value(of character: UInt8) -> Int? {
        let value = values[Int(character)]
        return value < 0 ? nil : value
    }

    private static let values: [Int] = {
        var values = [Int](repeating: -1, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = value }
        return values
    }()
}
