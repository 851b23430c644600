/// The level and the mask of a symbol, stated twice and readable before anything else (annex C).
package struct FormatInformation: Hashable, Sendable {
    package let level: ErrorCorrectionLevel
    package let mask: MaskPattern

    /// The format information of a symbol with this level and this mask.
    package init(level: ErrorCorrectionLevel, mask: MaskPattern) {
        self.level = level
        self.mask = mask
    }

    /// Inverts some of the bits, so that no format is all light.
    private static let fixedMask: UInt32 = 0x5412

    /// The 15 bits as they stand in the symbol.
    package var bits: UInt32 {
        let data = UInt32(level.formatBits << 3 | mask.reference)
        return (data << 10 | BCHCode.remainder(of: data, generator: 0x537)) ^ Self.fixedMask
    }

    /// All 32.
    static let all = ErrorCorrectionLevel.allCases.flatMap { level in
        MaskPattern.all.map { FormatInformation(level: level, mask: $0) }
    }

    /// In how many of the 15 places `bits` differs.
    package func distance(to bits: UInt32) -> Int { (self.bits ^ (bits & 0x7FFF)).nonzeroBitCount }
}
