/// Decodes the modules of a symbol.
struct SymbolDecoder {
    /// The message that was read, and the format information of its symbol.
    struct Result {
        let message: QRMessage
        let format: FormatInformation
    }

    let version: QRVersion
    private let layout: ModuleLayout
    private let placement: [Int]

    init(_ version: QRVersion) {
        self.version = version
        layout = ModuleLayout(version)
        placement = layout.placement
    }

    /// Decodes the modules, row by row; nil if they contain no message or it is damaged beyond repair.
    func decode(_ dark: [Bool], budget: inout WorkBudget) -> Result? {
        guard let format = format(of: dark) else { return nil }
        budget.spend(dark.count)
        var codewords = [UInt8](repeating: 0, count: version.codewordCount)
        for (index, place) in placement.prefix(codewords.count * 8).enumerated() {
            let (y, x) = place.quotientAndRemainder(dividingBy: layout.size)
            if dark[place] != format.mask.inverts(x: x, y: y) { codewords[index >> 3] |= 0x80 >> UInt8(index & 7) }
        }
        let blocks = BlockLayout(version, format.level)
        var received = blocks.dataCounts.map { [UInt8](repeating: 0, count: $0 + blocks.correctionCount) }
        for (codeword, place) in zip(codewords, blocks.order) { received[place.block][place.index] = codeword }
        var data: [UInt8] = []
        for index in received.indices {
            budget.spend(received[index].count * blocks.correctionCount / 4)
            guard
                ReedSolomonDecoder.correct(
                    &received[index],
                    correctionCount: blocks.correctionCount,
                    mostErrors: Self.mostErrors(version, format.level, blocks.correctionCount)
                ) != nil
            else { return nil }
            data += received[index].prefix(blocks.dataCounts[index])
        }
        return QRMessage(data, version: version).map { Result(message: $0, format: format) }
    }

    /// The wrong codewords that a block may have; the smallest symbols keep some of their protection against reading
    /// something else instead (ISO/IEC 18004, table 9).
    private static func mostErrors(_ version: QRVersion, _ level: ErrorCorrectionLevel, _ correction: Int) -> Int {
        let kept =
            switch (version.number, level) {
            case (1, .l): 3
            case (1, .m), (2, .l): 2
            case (1, _), (3, .l): 1
            default: 0
            }
        return (correction - kept) / 2
    }

    /// The format that both copies together are nearest to, if one of them is near enough.
    private func format(of dark: [Bool]) -> FormatInformation? {
        let copies = layout.formatPositions.map { positions in
            positions.reduce(UInt32(0)) { $0 << 1 | (dark[$1.y * layout.size + $1.x] ? 1 : 0) }
        }
        let near = FormatInformation.all.filter { format in copies.contains { format.distance(to: $0) <= 3 } }
        return near.min { left, right in
            copies.reduce(0) { $0 + left.distance(to: $1) } < copies.reduce(0) { $0 + right.distance(to: $1) }
        }
    }
}
