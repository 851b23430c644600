internal import TestSupport
internal import Testing

@testable internal import QRCode

/// Our own reader reads our symbols.
@Suite("Round trip") struct RoundTripTests {
    /// Rows of brightness, drawn with squares of three pixels.
    private func image(_ rows: [[UInt8]]) throws -> GreyImage {
        let scale = 3
        let wide = rows.map { row in row.flatMap { [UInt8](repeating: $0, count: scale) } }
        let pixels = wide.flatMap { row in (0..<scale).flatMap { _ in row } }
        return try GreyImage(width: rows[0].count * scale, height: rows.count * scale, pixels: pixels)
    }

    /// Returns the image that a terminal with that background shows.
    private func screen(_ text: String, isDark: Bool) -> [[UInt8]] {
        let (ink, paper): (UInt8, UInt8) = isDark ? (255, 0) : (0, 255)
        return text.split(separator: "\n").flatMap { line in
            [
                line.map { "▀█".contains($0) ? ink : paper },
                line.map { "▄█".contains($0) ? ink : paper },
            ]
        }
    }

    @Test func `full symbols of every version are read, with level, mask and every byte`() throws {
        var random = SplitMix64(seed: 40)
        for version in QRVersion.all {
            let level = ErrorCorrectionLevel.allCases[version.number % 4]
            let width = SegmentMode.indicatorWidth + (SegmentMode.byte.countWidth(in: version) ?? 0)
            let payload = random.bytes(count: (BlockLayout(version, level).dataCount * 8 - width) / 8)
            let symbol = try QRSymbol(encoding: payload, level: level)
            let rows = (-4..<symbol.size + 4).map { y in
                (-4..<symbol.size + 4).map { x in symbol[x, y] ? UInt8(0) : 255 }
            }
            let readings = try QRReader().read(image(rows))
            #expect(readings.map(\.bytes) == [payload], "\(version)")
            #expect(readings.map(\.version) == [version] && readings.map(\.level) == [level])
            #expect(readings.map(\.mask) == [symbol.mask])
        }
    }

    @Test(arguments: ["0123456789", "RUNAR://JOIN/ABC", "Ελλάδα, 日本 und 😀", #"{"type":"network","name":"Köln"}"#])
    func `texts of every kind come back from dark and light terminals`(text: String) throws {
        let symbol = try QRSymbol(encoding: text)
        for (style, isDark) in [(TerminalStyle.dark, true), (.light, false)] {
            let shown = screen(symbol.terminalText(style), isDark: isDark)
            #expect(try QRReader().read(image(shown)).map(\.text) == [text])
        }
    }

    @Test func `a symbol drawn for the wrong terminal is read as an inverted one`() throws {
        let symbol = try QRSymbol(encoding: "the other way round")
        let readings = try QRReader().read(image(screen(symbol.terminalText(.dark), isDark: false)))
        #expect(readings.map(\.text) == ["the other way round"] && readings.map(\.isInverted) == [true])
    }
}
