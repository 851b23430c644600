internal import Bytes

/// The content of the data codewords of a symbol (ISO/IEC 18004, 7.4).
public struct QRMessage: Sendable, Equatable {
    /// The place of a symbol among several that make up one message (structured append).
    public struct Part: Sendable, Hashable {
        /// From 0.
        public let index: Int
        /// From 2 to 16.
        public let count: Int
        /// All bytes of the whole message, combined by exclusive or: parts of one message have it in common.
        public let parity: UInt8
    }

    /// The bytes as they stand in the symbol; characters of kanji segments in Shift JIS.
    public let bytes: [UInt8]
    /// The text, or nil if it is in a character set that is not read here, so that no wrong text is given out.
    public let text: String?
    /// Which part of a message this is, if it is not all of it.
    public let part: Part?

    /// Reads the segments; nil if they make no sense.
    init?(_ data: [UInt8], version: QRVersion) {
        var reader = SegmentReader(bits: BitReader(data), version: version)
        guard reader.readAll() else { return nil }
        bytes = reader.bytes
        text = reader.text
        part = reader.part
    }
}

/// The character set of the bytes of a segment.
private enum CharacterSet: Equatable {
    /// No designator: UTF-8 if the bytes are valid UTF-8, else ISO 8859-1, the default of the standard.
    case unsaid
    case latin1
    case utf8
    case unknown

    /// The character set of an assignment number of the Extended Channel Interpretation.
    init(assignment: Int) {
        switch assignment {
        case 1, 3: self = .latin1
        case 26, 27, 170: self = .utf8
        default: self = .unknown
        }
    }

    func text(_ bytes: [UInt8]) -> String? {
        switch self {
        case .unsaid: String(utf8: bytes) ?? CharacterSet.latin1.text(bytes)
        case .latin1: String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .utf8: String(utf8: bytes)
        case .unknown: bytes.allSatisfy { $0 < 0x80 } ? String(utf8: bytes) : nil
        }
    }
}

private struct SegmentReader {
    var bits: BitReader
    let version: QRVersion
    private(set) var bytes: [UInt8] = []
    private(set) var part: QRMessage.Part?
    /// Stretches of bytes in one character set.
    private var stretches: [(set: CharacterSet, bytes: [UInt8])] = []
    private var set = CharacterSet.unsaid
    private var isFormatted = false

    init(bits: BitReader, version: QRVersion) {
        self.bits = bits
        self.version = version
    }

    var text: String? {
        var text = ""
        for stretch in stretches {
            guard let piece = stretch.set.text(stretch.bytes) else { return nil }
            text += piece
        }
        return text
    }

    /// Reads segments up to the end; false if one of them is broken.
    mutating func readAll() -> Bool {
        while let indicator = bits.read(SegmentMode.indicatorWidth), indicator != 0 {
            guard let mode = SegmentMode(rawValue: indicator), read(mode) else { return false }
        }
        return true
    }

    private mutating func read(_ mode: SegmentMode) -> Bool {
        var count = 0
        if let width = mode.countWidth(in: version) {
            guard let stated = bits.read(width) else { return false }
            count = stated
        }
        switch mode {
        case .numeric: return readNumeric(count)
        case .alphanumeric: return readAlphanumeric(count)
        case .byte: return readBytes(count)
        case .kanji: return readKanji(count)
        case .structuredAppend: return readPart()
        case .extendedChannel: return readAssignment()
        case .fnc1First: isFormatted = true
        case .fnc1Second:
            isFormatted = true
            return bits.read(8) != nil
        }
        return true
    }

    private mutating func append(_ more: [UInt8], in set: CharacterSet) {
        bytes += more
        if let last = stretches.indices.last, stretches[last].set == set {
            stretches[last].bytes += more
        } else {
            stretches.append((set, more))
        }
    }

    private mutating func readNumeric(_ count: Int) -> Bool {
        guard count * 10 / 3 <= bits.remaining else { return false }
        var digits: [UInt8] = []
        var left = count
        while left > 0 {
            let group = min(3, left)
            let limits = [10, 100, 1_000]
            guard let value = bits.read([4, 7, 10][group - 1]), value < limits[group - 1] else { return false }
            for divisor in [100, 10, 1].suffix(group) { digits.append(0x30 + UInt8(value / divisor % 10)) }
            left -= group
        }
        append(digits, in: set)
        return true
    }

    private mutating func readAlphanumeric(_ count: Int) -> Bool {
        guard count * 11 / 2 <= bits.remaining else { return false }
        var values: [Int] = []
        var left = count
        while left > 0 {
            let group = min(2, left)
            guard let value = bits.read(group == 2 ? 11 : 6), value < (group == 2 ? 45 * 45 : 45) else { return false }
            if group == 2 { values.append(value / 45) }
            values.append(value % 45)
            left -= group
        }
        var characters = values.map { AlphanumericTable.characters[$0] }
        if isFormatted { characters = Self.unescaped(characters) }
        append(characters, in: set)
        return true
    }

    /// In formatted data a percent sign is the separator of fields, and two of them are a percent sign.
    private static func unescaped(_ characters: [UInt8]) -> [UInt8] {
        let (percent, separator) = (UInt8(ascii: "%"), UInt8(0x1D))
        var result: [UInt8] = []
        var index = 0
        while index < characters.count {
            let isPair = index + 1 < characters.count && characters[index + 1] == percent
            let isPercent = characters[index] == percent
            result.append(isPercent && !isPair ? separator : characters[index])
            index += isPercent && isPair ? 2 : 1
        }
        return result
    }

    private mutating func readBytes(_ count: Int) -> Bool {
        guard count * 8 <= bits.remaining else { return false }
        append((0..<count).compactMap { _ in bits.read(8).map { UInt8(truncatingIfNeeded: $0) } }, in: set)
        return true
    }

    /// Characters of Shift JIS in thirteen bits each; they are given as bytes, not as text.
    private mutating func readKanji(_ count: Int) -> Bool {
        guard count * 13 <= bits.remaining else { return false }
        var characters: [UInt8] = []
        for _ in 0..<count {
            guard let packed = bits.read(13) else { return false }
            let joined = (packed / 0xC0) << 8 | packed % 0xC0
            let character = joined + (joined < 0x1F00 ? 0x8140 : 0xC140)
            characters += [UInt8(truncatingIfNeeded: character >> 8), UInt8(truncatingIfNeeded: character)]
        }
        append(characters, in: .unknown)
        return true
    }

    private mutating func readPart() -> Bool {
        guard let index = bits.read(4), let last = bits.read(4), let parity = bits.read(8), index <= last else {
            return false
        }
        part = QRMessage.Part(index: index, count: last + 1, parity: UInt8(truncatingIfNeeded: parity))
        return true
    }

    /// The number of a character set, in one to three bytes.
    private mutating func readAssignment() -> Bool {
        guard let first = bits.read(8) else { return false }
        let further = first & 0x80 == 0 ? 0 : first & 0x40 == 0 ? 1 : first & 0x20 == 0 ? 2 : nil
        guard let further, let rest = further == 0 ? 0 : bits.read(8 * further) else { return false }
        let own = first & (0x7F >> further)
        set = CharacterSet(assignment: own << (8 * further) | rest)
        return true
    }
}
