/// The size class of a symbol: version 1 has 21 modules a side, each further one 4 more, up to 177 (ISO/IEC 18004).
public struct QRVersion: Hashable, Comparable, Sendable {
    /// From 1 to 40.
    public let number: Int

    /// The version of a number, or nil outside 1...40.
    public init?(_ number: Int) {
        guard 1...40 ~= number else { return nil }
        self.number = number
    }

    /// The version of the symbol with this many modules a side, or nil if there is none.
    public init?(size: Int) {
        guard 21...177 ~= size, size % 4 == 1 else { return nil }
        number = (size - 17) / 4
    }

    private init(known number: Int) { self.number = number }

    /// Every version, from the smallest to the largest.
    public static let all = (1...40).map { QRVersion(known: $0) }

    /// Version 1.
    public static let smallest = QRVersion(known: 1)

    /// Version 40.
    public static let largest = QRVersion(known: 40)

    /// The modules of a side, without the quiet zone.
    public var size: Int { 17 + 4 * number }

    /// Whether `left` is the smaller symbol.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension QRVersion {
    /// The distance of the alignment patterns from version 2 on, counted from the far edge (annex E).
    ///
    /// Only the gap after the first pattern may differ, because that pattern is always at 6.
    private static let alignmentSpacing = [
        12, 16, 20, 24, 28, 16, 18, 20, 22, 24, 26, 28, 20, 22, 24, 24, 26, 28, 28, 22, 24, 24, 26, 26, 28, 28, 24,
        24, 26, 26, 26, 28, 28, 24, 26, 26, 26, 28, 28,
    ]

    /// The rows, which are also the columns, in which alignment patterns have their centre, in rising order.
    ///
    /// The three places that the finder patterns cover are left out where the patterns are drawn.
    package var alignmentCentres: [Int] {
        guard number > 1 else { return [] }
        let spacing = Self.alignmentSpacing[number - 2]
        let further = number / 7 + 1
        return [6] + (1...further).map { size - 7 - spacing * (further - $0) }
    }

    /// The modules that carry codewords and remainder bits.
    package var dataModuleCount: Int {
        let centres = alignmentCentres.count
        // Finder patterns with their separators, both copies of the format information and the dark module, timing.
        var functions = 3 * 64 + 31 + 2 * (size - 16)
        // Alignment patterns, except the five modules that those on the timing patterns share with them.
        if centres > 0 { functions += (centres * centres - 3) * 25 - 2 * (centres - 2) * 5 }
        // Both copies of the version information.
        if hasVersionInformation { functions += 36 }
        return size * size - functions
    }

    /// The codewords of a symbol, data and error correction together.
    package var codewordCount: Int { dataModuleCount / 8 }
}

extension QRVersion {
    /// Whether symbols of this version encode it in two blocks of 18 modules; readers infer smaller versions from the size.
    package var hasVersionInformation: Bool { number >= 7 }

    /// The 18 bits of the version information: the number and 12 bits of an extended BCH code (annex D).
    package var information: UInt32 {
        UInt32(number) << 12 | BCHCode.remainder(of: UInt32(number), generator: 0x1F25)
    }
}
