internal import TestSupport
internal import Testing

@testable internal import QRCode

/// zbar and zxing-cpp read our symbols.
@Suite("Independent readers", .enabled(if: IndependentReaders.missing.isEmpty, "zbar or zxing-cpp is missing"))
struct IndependentReaderTests {
    /// Draws a symbol for each payload, shows them all to both readers and checks every answer.
    private func expectRead(_ symbols: [(symbol: QRSymbol, payload: [UInt8])]) throws {
        let readings = try IndependentReaders.read(symbols.map(\.symbol.image))
        for (drawn, reading) in zip(symbols, readings) {
            let name = "\(drawn.symbol.version.number)-\(drawn.symbol.level) mask \(drawn.symbol.mask.reference)"
            #expect(reading.agrees(on: drawn.payload), "\(name): \(reading)")
            #expect(reading.recognizes(drawn.symbol), "\(name): \(reading)")
        }
    }

    private func characters(_ count: Int, of alphabet: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
    }

    @Test func `all 160 combinations of version and level are read when full to the last byte`() throws {
        var random = SplitMix64(seed: 160)
        var symbols: [(QRSymbol, [UInt8])] = []
        for version in QRVersion.all {
            for level in ErrorCorrectionLevel.allCases {
                let width = SegmentMode.indicatorWidth + (SegmentMode.byte.countWidth(in: version) ?? 0)
                let payload = random.bytes(count: (BlockLayout(version, level).dataCount * 8 - width) / 8)
                let symbol = try QRSymbol(encoding: payload, level: level)
                #expect(symbol.version == version)
                symbols.append((symbol, payload))
            }
        }
        try expectRead(symbols)
        print("\(symbols.count) full symbols read by zbar and by zxing-cpp, masks and formats as drawn")
    }

    @Test func `digits and capital letters are read when they fill symbols of each width of character counts`() throws {
        let standard = try Standard.load()
        var random = SplitMix64(seed: 9)
        var symbols: [(QRSymbol, [UInt8])] = []
        let fills = [
            (standard.numericCapacities, Array("0123456789".utf8)),
            (standard.alphanumericCapacities, AlphanumericTable.characters),
        ]
        for (capacities, alphabet) in fills {
            for (number, levels) in capacities {
                for level in ErrorCorrectionLevel.allCases {
                    let count = try #require(levels[level.rawValue])
                    // A letter at each end, so that no segment of digits saves a bit at an end.
                    var payload = characters(count, of: alphabet, &random)
                    if alphabet.count > 10 { (payload[0], payload[count - 1]) = (0x41, 0x5A) }
                    let symbol = try QRSymbol(encoding: payload, level: level)
                    #expect(symbol.version.number == Int(number), "\(count) characters at \(level)")
                    symbols.append((symbol, payload))
                }
            }
        }
        try expectRead(symbols)
    }

    @Test func `every mask is read, whether it is the best or not`() throws {
        let payload = Array("the same text under eight masks, which is long enough for version 7 of the symbols".utf8)
        var symbols: [(QRSymbol, [UInt8])] = []
        for bytes in [Array(payload.prefix(9)), payload] {
            for mask in MaskPattern.all {
                for level in ErrorCorrectionLevel.allCases {
                    let message = try Message(bytes, isUTF8: false, level: level, atLeast: .smallest)
                    symbols.append((QRSymbol(message, level: level, mask: mask), bytes))
                }
            }
        }
        try expectRead(symbols)
    }

    @Test(
        arguments: [
            "A1B2c3", "HTTPS://EXAMPLE.ORG/?q=0123456789012345678901234567890123456789&x=y", " ", "0",
            "Grüße aus Köln, Ελλάδα, 日本 und 😀", #"{"type":"network","name":"home"}"#,
            "0001112223334445556667778889990000 ß",
        ])
    func `texts come back as they were, whatever their characters`(text: String) throws {
        let symbol = try QRSymbol(encoding: text, level: .q)
        let reading = try #require(try IndependentReaders.read([symbol.image]).first)
        #expect(reading.agrees(on: Array(text.utf8)) && reading.recognizes(symbol), "\(reading)")
        #expect(reading.zxing.first?.text == text)
    }

    @Test func `images are read: PNG and SVG in several sizes`() throws {
        let payload = Array("a picture of this text, whatever its size".utf8)
        let symbol = try QRSymbol(encoding: payload)
        let scales = [2, 3, 8, 13]
        let images =
            scales.map { IndependentReaders.Image.png(symbol.png(modulePixels: $0)) }
            + scales.map { .svg(symbol.svg(title: "<a> & \"b\" \u{1B}", modulePixels: $0)) }
        let readings = try IndependentReaders.read(images)
        for reading in readings { #expect(reading.agrees(on: payload) && reading.recognizes(symbol), "\(reading)") }
        #expect(readings.prefix(4).map(\.width) == scales.map { (symbol.size + 8) * $0 })
        #expect(readings.allSatisfy { $0.width == $0.height })
    }

    @Test func `half blocks are read on dark and light terminals, and coloured ones on both`() throws {
        let payload = Array("RUNAR://JOIN/ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        let symbol = try QRSymbol(encoding: payload)
        let shown: [(TerminalStyle, Bool)] = [(.dark, true), (.light, false), (.coloured, true), (.coloured, false)]
        let readings = try IndependentReaders.read(
            shown.map { .terminal(symbol.terminalText($0.0), isDark: $0.1) }
                + shown.map { .terminal(symbol.terminalText($0.0, quietZone: 1), isDark: $0.1) }
        )
        for reading in readings { #expect(reading.agrees(on: payload), "\(reading)") }
    }
}
