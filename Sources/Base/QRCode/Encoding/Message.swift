/// The content of a symbol: segments, preceded by the character set of their bytes if it must be declared.
struct Message {
    /// The designator of UTF-8 (ISO/IEC 18004, 7.3.2; AIM ECI 000026).
    private static let utf8Designator = 26

    /// The most characters that any symbol holds, digits at level L; more are refused before any work.
    private static let maximumCount = 7_089

    /// Versions between which the widths of character counts do not change, each class by its largest.
    private static let classes = [9, 26, 40].compactMap { QRVersion($0) }

    /// The smallest version at or above the demanded one that holds the message.
    let version: QRVersion
    /// The data codewords of that version, padded.
    let codewords: [UInt8]

    /// Encodes `bytes`, declared as UTF-8 if `isUTF8` is set and some are beyond ASCII.
    init(
        _ bytes: [UInt8],
        isUTF8: Bool,
        level: ErrorCorrectionLevel,
        atLeast minimum: QRVersion
    ) throws(QRCodeError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumCount else {
            throw .tooLong(byteCount: bytes.count, level: level, fitting: nil)
        }
        let saysUTF8 = isUTF8 && bytes.contains { $0 >= 0x80 }
        let prefix = saysUTF8 ? SegmentMode.indicatorWidth + 8 : 0
        var needed = 0
        for largest in Self.classes where largest >= minimum {
            let segmentation = Segmentation(of: bytes, in: largest)
            needed = prefix + segmentation.bitCount
            let candidates = max(minimum, largest.smallestOfClass).number...largest.number
            let fitting = candidates.lazy.compactMap { QRVersion($0) }
                .first { BlockLayout($0, level).dataCount * 8 >= needed }
            guard let fitting else { continue }
            version = fitting
            codewords = Self.codewords(
                segmentation.segments,
                saysUTF8: saysUTF8,
                version: fitting,
                count: BlockLayout(fitting, level).dataCount
            )
            return
        }
        let weaker = ErrorCorrectionLevel.allCases.last {
            $0 < level && BlockLayout(.largest, $0).dataCount * 8 >= needed
        }
        throw .tooLong(byteCount: bytes.count, level: level, fitting: weaker)
    }

    private static func codewords(
        _ segments: [Segment],
        saysUTF8: Bool,
        version: QRVersion,
        count: Int
    ) -> [UInt8] {
        var writer = BitWriter()
        if saysUTF8 {
            writer.append(SegmentMode.extendedChannel.rawValue, width: SegmentMode.indicatorWidth)
            writer.append(utf8Designator, width: 8)
        }
        for segment in segments { writer.append(segment, version: version) }
        // The terminator, cut short where the symbol is full, and zeros up to a whole codeword.
        writer.append(0, width: min(SegmentMode.indicatorWidth, count * 8 - writer.count))
        writer.append(0, width: (8 - writer.count % 8) % 8)
        let padding: [UInt8] = [0b1110_1100, 0b0001_0001]
        return writer.bytes + (0..<count - writer.bytes.count).map { padding[$0 % 2] }
    }
}

extension QRVersion {
    /// The smallest version whose character counts are as wide as those of this one.
    fileprivate var smallestOfClass: QRVersion {
        QRVersion.all[number < 10 ? 0 : number < 27 ? 9 : 26]
    }
}

extension BitWriter {
    /// Appends a segment with its header.
    fileprivate mutating func append(_ segment: Segment, version: QRVersion) {
        append(segment.mode.rawValue, width: SegmentMode.indicatorWidth)
        append(segment.bytes.count, width: segment.mode.countWidth(in: version) ?? 0)
        switch segment.mode {
        case .numeric:
            appendGroups(of: segment.bytes.map { Int($0) - 0x30 }, size: 3, base: 10, widths: [0, 4, 7, 10])
        case .alphanumeric:
            let values = segment.bytes.map { AlphanumericTable.value(of: $0) ?? 0 }
            appendGroups(of: values, size: 2, base: 45, widths: [0, 6, 11])
        default:
            for byte in segment.bytes { append(Int(byte), width: 8) }
        }
    }

    /// Appends values in groups, each group as one number whose width depends on how full it is.
    private mutating func appendGroups(of values: [Int], size: Int, base: Int, widths: [Int]) {
        for start in stride(from: 0, to: values.count, by: size) {
            let group = values[start..<min(start + size, values.count)]
            append(group.reduce(0) { $0 * base + $1 }, width: widths[group.count])
        }
    }
}
