extension QRSymbol {
    /// Creates the smallest symbol of `text` at a level of error correction.
    ///
    /// Runs of digits and alphanumeric characters are packed where that takes fewer bits. A text beyond ASCII is declared to
    /// be UTF-8, so that no reader has to guess.
    ///
    /// - Parameters:
    ///   - text: The text to encode.
    ///   - level: The level of error correction.
    ///   - minimum: The smallest version to use.
    /// - Throws: ``QRCodeError`` if the text is empty or too long.
    public init(
        encoding text: String,
        level: ErrorCorrectionLevel = .m,
        atLeast minimum: QRVersion = .smallest
    ) throws(QRCodeError) {
        self.init(try Message(Array(text.utf8), isUTF8: true, level: level, atLeast: minimum), level: level)
    }

    /// Creates the smallest symbol of `bytes`, without declaring a character set.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to encode.
    ///   - level: The level of error correction.
    ///   - minimum: The smallest version to use.
    /// - Throws: ``QRCodeError`` if `bytes` is empty or too long.
    public init(
        encoding bytes: [UInt8],
        level: ErrorCorrectionLevel = .m,
        atLeast minimum: QRVersion = .smallest
    ) throws(QRCodeError) {
        self.init(try Message(bytes, isUTF8: false, level: level, atLeast: minimum), level: level)
    }

    /// Draws a message under the mask with the least penalty, or under the one demanded.
    init(_ message: Message, level: ErrorCorrectionLevel, mask: MaskPattern? = nil) {
        let version = message.version
        let layout = ModuleLayout(version)
        let placement = layout.placement
        var bare = layout.isDark
        let codewords = Self.interleaved(message.codewords, in: BlockLayout(version, level))
        for (place, index) in placement.prefix(codewords.count * 8).enumerated() {
            bare[index] = codewords[place / 8] >> UInt8(7 - place % 8) & 1 == 1
        }
        var best: (modules: [Bool], mask: MaskPattern, penalty: Int)?
        for candidate in mask.map({ [$0] }) ?? MaskPattern.all {
            var modules = bare
            for index in placement where candidate.inverts(x: index % layout.size, y: index / layout.size) {
                modules[index].toggle()
            }
            let format = FormatInformation(level: level, mask: candidate).bits
            for copy in layout.formatPositions {
                for (place, position) in copy.enumerated() {
                    modules[position.y * layout.size + position.x] = format >> UInt32(14 - place) & 1 == 1
                }
            }
            let penalty = MaskPenalty(of: modules, size: layout.size).total
            if penalty < best?.penalty ?? .max { best = (modules, candidate, penalty) }
        }
        guard let best else { preconditionFailure("there are eight masks to choose from") }
        self.init(version: version, level: level, mask: best.mask, modules: best.modules)
    }

    /// The codewords of a symbol in the order of placement: data in blocks, each with its error correction.
    static func interleaved(_ data: [UInt8], in layout: BlockLayout) -> [UInt8] {
        let encoder = ReedSolomonEncoder(correctionCount: layout.correctionCount)
        var start = 0
        let blocks = layout.dataCounts.map { count in
            defer { start += count }
            let own = data[start..<start + count]
            return Array(own) + encoder.correction(for: own)
        }
        return layout.order.map { blocks[$0.block][$0.index] }
    }
}
